# The ready message of nbuf after every command: eval "$(nbuf run --shell zsh)"
__nbuf_preexec() {
  print -r -u $__nbuf_to -- b
  __nbuf_began=$EPOCHREALTIME
}
__nbuf_precmd() {
  local code=$? now=$EPOCHREALTIME line
  if [[ -n ${__nbuf_began-} ]]; then
    print -r -u $__nbuf_to -- "p $(( int((now - __nbuf_began) * 1e6) ))"
    if IFS= read -r -t 2 -u $__nbuf_from line; then
      print -r -u 2 -- $line
    else
      print -r -u 2 -- 'nbuf: the helper of this session has ended; evaluate the hook again to start one'
      add-zsh-hook -d preexec __nbuf_preexec
      add-zsh-hook -d precmd __nbuf_precmd
      command rm -f -- $__nbuf_place/to $__nbuf_place/from
      command rmdir -- $__nbuf_place 2>/dev/null
    fi
    __nbuf_began=
  fi
  return $code
}
if [[ -o interactive && -z ${__nbuf_helper-} ]]; then
  zmodload zsh/datetime zsh/mathfunc
  autoload -Uz add-zsh-hook
  if read -r __nbuf_helper __nbuf_place < <(@NBUF@ shell-helper $$); then
    exec {__nbuf_to}<>$__nbuf_place/to {__nbuf_from}<>$__nbuf_place/from
    __nbuf_began=
    add-zsh-hook preexec __nbuf_preexec
    add-zsh-hook precmd __nbuf_precmd
  fi
fi
