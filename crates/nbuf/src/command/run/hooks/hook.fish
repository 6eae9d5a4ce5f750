# The ready message of nbuf after every command: nbuf run --shell fish | source
if status is-interactive; and not set -q __nbuf_helper
    @NBUF@ shell-helper $fish_pid | read -g __nbuf_helper __nbuf_place
    function __nbuf_preexec --on-event fish_preexec
        test -p $__nbuf_place/to; and echo b >$__nbuf_place/to
    end
    function __nbuf_postexec --on-event fish_postexec
        set -l code $status
        if test -p $__nbuf_place/to
            echo p (math -s0 "$CMD_DURATION * 1000") >$__nbuf_place/to
            read -l line <$__nbuf_place/from
            echo $line >&2
        end
        return $code
    end
end
