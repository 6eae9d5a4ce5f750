# The ready message of nbuf after every command: eval "$(nbuf run --shell bash)"
__nbuf_off() {
  PS0=${PS0//"$__nbuf_ps0"/}
  __nbuf_prompt() { return $?; }
  { exec {__nbuf_to}>&- {__nbuf_from}<&-; } 2>/dev/null
  command rm -f -- "$__nbuf_place/to" "$__nbuf_place/from"
  command rmdir -- "$__nbuf_place" 2>/dev/null
}
__nbuf_prompt() {
  local status=$? line now=${EPOCHREALTIME//[^0-9]/}
  if [[ -n ${__nbuf_began-} ]]; then
    printf 'p %d\n' $((now - __nbuf_began)) >&$__nbuf_to
    if IFS= read -r -t 2 -u "$__nbuf_from" line; then
      printf '%s\n' "$line" >&2
    else
      printf 'nbuf: the helper of this session has ended; evaluate the hook again to start one\n' >&2
      __nbuf_off
    fi
    __nbuf_began=
  fi
  return $status
}
if [[ $- == *i* && -z ${__nbuf_helper-} ]]; then
  if [[ -z ${EPOCHREALTIME-} ]]; then
    printf 'nbuf: the hook needs bash 5.0 or newer\n' >&2
  elif read -r __nbuf_helper __nbuf_place < <(@NBUF@ shell-helper $$); then
    exec {__nbuf_to}<>"$__nbuf_place/to" {__nbuf_from}<>"$__nbuf_place/from"
    __nbuf_began=
    __nbuf_ps0='${BASH_VERSION:0:$((__nbuf_began=${EPOCHREALTIME//[^0-9]/},0))}'
    PS0=${PS0-}$__nbuf_ps0
    PROMPT_COMMAND="__nbuf_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
  fi
fi
