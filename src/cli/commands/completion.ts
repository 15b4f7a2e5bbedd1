import { Argument, type Command, type Option } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'];

/** `completion`: a script that completes commands and options, made from the commands themselves. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .description('print a completion script, for example: source <(reach completion bash)')
    .action((shell: string) => {
      process.stdout.write(completionScript(program, shell));
    });
}

/** The script for one of bash, zsh and fish. */
export function completionScript(program: Command, shell: string): string {
  return shell === 'fish' ? fishScript(program) : bashScript(program, shell);
}

function bashScript(program: Command, shell: string): string {
  const global = optionNames(program.options);
  const cases = program.commands.map(
    (command) =>
      `    ${command.name()}) words="${[...optionNames(command.options), ...global].join(' ')}" ;;`,
  );
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_reach() {',
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    `  [ "$COMP_CWORD" -eq 1 ] && words="${program.commands.map((c) => c.name()).join(' ')} ${global.join(' ')}"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _reach reach',
    '',
  ].join('\n');
}

function fishScript(program: Command): string {
  const lines = program.options.map((o) => fishOption(o, ''));
  for (const command of program.commands) {
    const description = quoted(command.description());
    lines.push(`complete -c reach -n __fish_use_subcommand -a ${command.name()} -d ${description}`);
    const condition = ` -n '__fish_seen_subcommand_from ${command.name()}'`;
    for (const option of command.options) lines.push(fishOption(option, condition));
  }
  return `${lines.join('\n')}\n`;
}

function fishOption(option: Option, condition: string): string {
  const short = option.short ? ` -s ${option.short.slice(1)}` : '';
  const long = option.long ? ` -l ${option.long.slice(2)}` : '';
  return `complete -c reach${condition}${short}${long}${option.required ? ' -r' : ''} -d ${quoted(option.description)}`;
}

const optionNames = (options: readonly Option[]): string[] => options.flatMap((o) => o.long ?? []);
const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
