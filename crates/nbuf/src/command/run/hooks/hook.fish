# The ready message of nbuf after every command: nbuf run --shell fish | source
if status is-interactive; and not set -q __nbuf_helper
    @NBUF@ shell-helper $fish_pid | read -g __nbuf_helper __nbuf_place
    function __nbuf_off
        echo 'nbuf: the helper of this session has ended; start a new session for another' >&2
        functions -e __nbuf_preexec __nbuf_postexec
        command rm -f -- $__nbuf_place/to $__nbuf_place/from
        command rmdir -- $__nbuf_place 2>/dev/null
    end
    # Without the helper, both FIFOs would wait for it.
    function __nbuf_lives
        # One that has ended and waits for its parent has no words.
        set -l words
        test -d /proc/$__nbuf_helper; and read -z words </proc/$__nbuf_helper/cmdline
        test -n "$words"; and return 0
        __nbuf_off
        return 1
    end
    function __nbuf_preexec --on-event fish_preexec
        __nbuf_lives; and echo b >$__nbuf_place/to
    end
    function __nbuf_postexec --on-event fish_postexec
        set -l code $status
        if __nbuf_lives
            echo p (math -s0 "$CMD_DURATION * 1000") >$__nbuf_place/to
            # A read of fish has no time limit, and the helper may end or stop before it answers.
            command timeout 2 head -n 1 $__nbuf_place/from | read -l line
            if test -n "$line"
                echo $line >&2
            else
                __nbuf_off
            end
        end
        return $code
    end
end
