import { option, type OptionSpecs } from '#core/command'

export const instructionOptions = {
  set: option.list('--set <key=value>', 'change the policy (repeatable)'),
  via: option.text(
    '--via <client>',
    'claude, codex, gemini, opencode, copilot or qwen for steps without a script',
  ),
  model: option.text('--model <provider:name>', 'a model for steps without a script'),
  tools: option.text(
    '--tools <names>',
    'built-in tools for the model: read,list,search,write,edit,shell or all',
  ),
  from: option.text('--from <step>', 'skip the steps before this one'),
  only: option.text('--only <step>', 'skip every other step'),
} as const satisfies OptionSpecs

export const executeOptions = {
  maxTime: option.seconds('--max-time <seconds>', 'stop the run after this time'),
} as const satisfies OptionSpecs

/** What a command that starts or continues a run writes besides its Result. */
export const reportOptions = {
  report: option.list(
    '--report <format[=file]>',
    'json, junit, github or html; - is stdout (repeatable)',
  ),
  events: option.optional('--events [file]', 'events as lines of JSON, to --events=FILE or stdout'),
} as const satisfies OptionSpecs

export const runArgument = { '<run>': 'the run ID, the beginning of one, or latest' } as const

export const runArguments = {
  ...runArgument,
  '[arguments...]': 'the arguments again, if they contained a secret',
} as const

/** Permissions that a user gives untrusted scripts of a run. Never read from a file. */
export const confinementOptions = {
  grant: option.list(
    '--grant <what>',
    'give the sandbox read:PATH, write:PATH, net:* or env:NAME (repeatable)',
  ),
  unsafeNoSandbox: option.flag('--unsafe-no-sandbox', 'run untrusted scripts with all your rights'),
} as const satisfies OptionSpecs
