interface SettingBase {
  /** The place in a configuration file, such as `run.timeout`. */
  key: string
  description: string
  /** A project's file may not set it: it would raise the project's own rights. Default: it may. */
  userOnly?: true
  /** A file adds to the list of those before it, so that a project takes nothing away. */
  adds?: true
}

/** A setting; `fallback` is its default. */
export type Setting = SettingBase &
  (
    | { kind: 'paths' | 'names' | 'patterns' | 'words'; fallback: readonly string[] }
    /** An `address` is that of a server; the description says what an empty one means. */
    | { kind: 'text' | 'address'; fallback: string }
    | {
        kind: 'numbers'
        minimum: number
        maximum: number
        most: number
        fallback: readonly number[]
      }
    | { kind: 'choice'; choices: readonly string[]; fallback: string }
    | { kind: 'integer'; minimum: number; maximum: number; fallback: number }
  )

/** Every setting. Files, variables, documentation and the type {@link Settings} come from this table. */
export const settingTable = [
  setting('skills.paths', list('paths'), 'Further directories to search for skills.'),
  userSetting(
    'skills.trustedPaths',
    list('paths'),
    'Directories whose skills are trusted besides the user’s own.',
  ),
  setting(
    'skills.precedence',
    choice('project', 'user'),
    'Whose skill takes precedence when two have the same name.',
  ),
  setting(
    'run.environment',
    list('names'),
    'Environment variables that scripts get besides PATH, HOME and the locale.',
  ),
  setting('run.timeout', integer(3600, 0, 604_800), 'Seconds for each skill; 0 means no limit.'),
  setting(
    'run.outputLimit',
    integer(8_388_608, 1024, 1_073_741_824),
    'Maximum bytes of output kept for each stream of a script.',
  ),
  userSetting(
    'run.sandbox',
    choice('untrusted', 'all', 'refuse'),
    'Whose scripts run in a sandbox. `refuse`: what is not trusted does not run at all.',
  ),
  setting(
    'tools.retryWaits',
    { kind: 'numbers', fallback: [0, 1], minimum: 0, maximum: 600, most: 9 },
    'Seconds to wait before each retry of a tool call that may be repeated; an empty list disables retries.',
  ),
  userSetting(
    'tools.replaySafe',
    list('patterns'),
    'Tools that may be called again after a failure, such as `github__get_*`.',
  ),
  setting(
    'tools.neverReplay',
    list('patterns'),
    'Tools that are never retried; takes precedence over every other rule.',
  ),
  userSetting(
    'tools.allow',
    list('patterns'),
    'Tools that are called without a question, such as `notes__*`.',
  ),
  setting(
    'tools.ask',
    { ...list('patterns'), adds: true },
    'Tools that always need a yes; takes precedence over `tools.allow`.',
  ),
  setting(
    'tools.deny',
    { ...list('patterns'), adds: true },
    'Tools that are never called; takes precedence over every other rule.',
  ),
  userSetting(
    'tools.readOnly',
    list('patterns'),
    'Tools that only read, whatever their server says of them, such as `tavily__*`.',
  ),
  setting(
    'tools.sessionHours',
    integer(24, 1, 8760),
    'Hours after which prerequisites of workflows run again.',
  ),
  setting(
    'tools.idleExit',
    integer(1800, 0, 604_800),
    'Seconds without a request after which `skillrail tools serve` exits; 0 means never.',
  ),
  userSetting(
    'tools.embeddings',
    choice('off', 'local'),
    '`local` also routes requests by meaning, in this process (@energetic-ai/embeddings).',
  ),
  userSetting(
    'tools.model',
    text('text'),
    'Model, as `provider:name`, that `tools do` asks for the tool and its parameters.',
  ),
  userSetting(
    'agent.model',
    text('text'),
    'Default model of commands, as `provider:name`; empty: commands require `--model`.',
  ),
  userSetting(
    'agent.baseUrl',
    text('address'),
    'Where the models of `openai-compatible:` are, such as http://127.0.0.1:11434/v1; its key is SKILLRAIL_AGENT_API_KEY.',
  ),
  setting('agent.maxTurns', integer(50, 1, 1000), 'Maximum number of model calls in one task.'),
  setting(
    'agent.contextTokens',
    integer(100_000, 1000, 10_000_000),
    'Estimated tokens above which older parts of a conversation are left out.',
  ),
  setting(
    'agent.concurrency',
    integer(10, 1, 1000),
    'Subagents that work at once; the others wait in order.',
  ),
  userSetting(
    'hooks.repeat',
    choice('prompt', 'session'),
    '`session`: the hook gives a reference once a session.',
  ),
  userSetting(
    'hooks.budget',
    integer(10_000, 100, 10_000_000),
    'Maximum estimated tokens of references that the hook adds at once; others are named.',
  ),
  userSetting(
    'restate.url',
    text('address', 'http://127.0.0.1:8080'),
    'Ingress address of the Restate server that executes runs with `--engine restate`.',
  ),
  userSetting(
    'restate.adminUrl',
    text('address'),
    'Address of its admin interface; default: port 9070 on the host of the ingress.',
  ),
  userSetting(
    'restate.token',
    text('text'),
    'Bearer token for the server and its admin interface; empty sends none.',
  ),
  userSetting(
    'restate.workerHost',
    text('text', '127.0.0.1'),
    'The address that `skillrail worker` listens on.',
  ),
  userSetting(
    'restate.workerPort',
    integer(9080, 0, 65_535),
    'The port that `skillrail worker` listens on; 0 selects a free port.',
  ),
  userSetting(
    'restate.workerAddress',
    text('address'),
    'Address of the worker, or its load balancer, to register with the server.',
  ),
  userSetting(
    'restate.identityKeys',
    list('words'),
    'Public keys of the server, which signs its requests.',
  ),
  userSetting(
    'restate.via',
    list('words'),
    'Agent clients that can execute steps without a script for a worker.',
  ),
  userSetting(
    'restate.models',
    list('words'),
    'Models, as `provider:name`, that can execute steps without a script for a worker.',
  ),
  userSetting(
    'restate.patience',
    integer(60, 0, 86_400),
    'Seconds to look for another worker that can execute a step.',
  ),
  userSetting(
    'restate.resultLimit',
    integer(8_388_608, 1024, 16_777_216),
    'Maximum bytes of one step result, as JSON, that a worker sends to the server.',
  ),
  userSetting(
    'restate.scratch',
    text('text'),
    'Absolute path of a directory that all workers and this machine share, for SKILLRAIL_SCRATCH, artifacts and logs.',
  ),
  userSetting(
    'run.notify',
    text('text'),
    'Command line that gets a run as JSON on standard input whenever it waits, fails or ends.',
  ),
  userSetting(
    'state.directory',
    text('text'),
    'Absolute path of the directory for run journals, sessions and logs; empty means the XDG state directory.',
  ),
  userSetting(
    'workspaceTrust',
    choice('ask', 'trusted'),
    '`trusted` trusts every project that is opened.',
  ),
] as const satisfies readonly Setting[]

function setting<const Key extends string, const Value extends object>(
  key: Key,
  value: Value,
  description: string,
): { key: Key; description: string; userOnly?: true } & Value {
  return { key, description, ...value }
}

function userSetting<const Key extends string, const Value extends object>(
  key: Key,
  value: Value,
  description: string,
): { key: Key; description: string; userOnly?: true } & Value {
  return { key, description, userOnly: true, ...value }
}

function integer(fallback: number, minimum: number, maximum: number) {
  return { kind: 'integer', fallback, minimum, maximum } as const
}

function choice<const Choice extends string>(fallback: Choice, ...others: Choice[]) {
  return { kind: 'choice', choices: [fallback, ...others], fallback } as const
}

function list<const Kind extends 'paths' | 'names' | 'patterns' | 'words'>(kind: Kind) {
  const fallback: readonly string[] = []
  return { kind, fallback } as const
}

function text<const Kind extends 'text' | 'address'>(kind: Kind, fallback = '') {
  return { kind, fallback } as const
}

type Entry = (typeof settingTable)[number]

type ValueOf<S> = S extends { kind: 'choice'; choices: readonly (infer C)[] }
  ? C
  : S extends { kind: 'integer' }
    ? number
    : S extends { kind: 'numbers' }
      ? readonly number[]
      : S extends { kind: 'text' | 'address' }
        ? string
        : readonly string[]

type Group = Entry['key'] extends infer K ? (K extends `${infer G}.${string}` ? G : never) : never

/** What a user or a project can configure: `settings.run.timeout` is the setting `run.timeout`. */
export type Settings = {
  [G in Group]: {
    [S in Entry as S['key'] extends `${G}.${infer Name}` ? Name : never]: ValueOf<S>
  }
} & { [S in Entry as S['key'] extends `${string}.${string}` ? never : S['key']]: ValueOf<S> }

export type SettingValue = string | number | readonly string[] | readonly number[]

/** The environment variable that sets it: `SKILLRAIL_RUN_TIMEOUT` for `run.timeout`. */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  const words = key.replaceAll('.', '_').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
  return `SKILLRAIL_${words.toUpperCase()}`
}
