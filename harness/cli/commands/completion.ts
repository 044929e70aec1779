/**
 * `hookproof completion`: prints the completion script for a shell. The scripts call `hookproof __complete WORD...`,
 * which prints one line for paths (`none`, `files` or `folders`) and one for each candidate. They are hand-written,
 * because the maintained library for commander, @bomb.sh/tab 0.0, passes the words of the line to `eval`, needs
 * bash-completion, and does not complete file names.
 */

/** Works with bash 3.2, which has no `compopt`, and without bash-completion. */
const BASH = `# bash completion for hookproof
_hookproof() {
  local line=$COMP_LINE words=() last=-1 i word paths value
  # bash has split the line at = and : too, which are parts of values. Without a blank between them, they are one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ $line != [[:blank:]]* ]]; then
      words[last]+=$word
    else
      words[++last]=$word
    fi
    line=\${line#"\${line%%[![:blank:]]*}"}
    line=\${line#"$word"}
  done
  local current=\${words[last]} before=
  # Only what follows the last of these characters is replaced.
  if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then before=\${current%"\${current##*=}"}; fi
  if [[ $COMP_WORDBREAKS == *:* && \${current#"$before"} == *:* ]]; then before=\${current%"\${current##*:}"}; fi
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    if [[ -z $paths ]]; then paths=$value; continue; fi
    [[ $value == *= ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("\${value#"$before"}")
  done < <("\${words[0]/#\\~/$HOME}" __complete "\${words[@]:1}" </dev/null 2>/dev/null)
  # Without candidates, bash completes files.
  case $paths in
    none) compopt +o default +o bashdefault 2>/dev/null ;;
    folders) compopt +o default +o bashdefault -o dirnames 2>/dev/null ;;
  esac
}
complete -o bashdefault -o default -F _hookproof hookproof
`;

const ZSH = `#compdef hookproof
_hookproof() {
  local -a lines described joined
  local line value description
  lines=("\${(@f)$("\${(Q)words[1]/#\\~/$HOME}" __complete "\${(@Q)words[2,CURRENT]}" </dev/null 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    [[ -n $line ]] || continue
    value=\${line%%$'\\t'*}
    description=\${line#*$'\\t'}
    if [[ $value == *= ]]; then
      joined+=("\${value//:/\\\\:}:$description")
    else
      described+=("\${value//:/\\\\:}:$description")
    fi
  done
  (( \${#described} )) && _describe -t values hookproof described
  (( \${#joined} )) && _describe -t values hookproof joined -S ''
  if [[ $lines[1] == files ]]; then
    compset -P '*='
    _files
  elif [[ $lines[1] == folders ]]; then
    compset -P '*='
    _files -/
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _hookproof "$@"
else
  compdef _hookproof hookproof
fi
`;

const FISH = `# fish completion for hookproof
function __hookproof_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$current" </dev/null 2>/dev/null)
  test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
  set -l before (string match -r '^.*=' -- "$current")
  set -l path (string replace -r '^.*=' '' -- "$current")
  switch "$lines[1]"
    case files
      __fish_complete_path "$path" | string replace -r '^' -- "$before"
    case folders
      __fish_complete_directories "$path" | string replace -r '^' -- "$before"
  end
end
complete -c hookproof -e
complete -c hookproof -f -a '(__hookproof_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };

export async function completionCommand(shell: keyof typeof SCRIPTS): Promise<number> {
  process.stdout.write(SCRIPTS[shell]);
  return 0;
}
