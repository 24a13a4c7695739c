interface SettingBase {
  /** The place in a configuration file, such as `run.timeout`. */
  key: string
  description: string
  /** A project's file may not set it: it would raise the project's own rights. Default: it may. */
  userOnly?: true
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
  {
    key: 'skills.paths',
    kind: 'paths',
    fallback: [],
    description: 'Further directories to search for skills.',
  },
  {
    key: 'skills.trustedPaths',
    kind: 'paths',
    fallback: [],
    userOnly: true,
    description: 'Directories whose skills are trusted besides the user’s own.',
  },
  {
    key: 'skills.precedence',
    kind: 'choice',
    choices: ['project', 'user'],
    fallback: 'project',
    description:
      'Which skill takes precedence when the project and the user have one of the same name.',
  },
  {
    key: 'run.environment',
    kind: 'names',
    fallback: [],
    description: 'Environment variables that scripts get besides PATH, HOME and the locale.',
  },
  {
    key: 'run.timeout',
    kind: 'integer',
    minimum: 0,
    maximum: 604_800,
    fallback: 0,
    description: 'Seconds for each skill whose chain sets no time-out; 0 means no limit.',
  },
  {
    key: 'run.outputLimit',
    kind: 'integer',
    minimum: 1024,
    maximum: 1_073_741_824,
    fallback: 1_048_576,
    description:
      'Maximum bytes of output kept for each stream of a script; the rest is only counted.',
  },
  {
    key: 'run.sandbox',
    kind: 'choice',
    choices: ['untrusted', 'all', 'refuse'],
    fallback: 'untrusted',
    userOnly: true,
    description:
      'Whose scripts run in a sandbox: those of skills that are not trusted, or all. `refuse`: what is not trusted does not run at all.',
  },
  {
    key: 'tools.retryWaits',
    kind: 'numbers',
    minimum: 0,
    maximum: 600,
    most: 9,
    fallback: [0, 1],
    description:
      'Seconds to wait before each retry of a tool call that may be repeated; an empty list in a file disables retries.',
  },
  {
    key: 'tools.replaySafe',
    kind: 'patterns',
    fallback: [],
    userOnly: true,
    description: 'Tools that may be called again after a failure, such as `github__get_*`.',
  },
  {
    key: 'tools.neverReplay',
    kind: 'patterns',
    fallback: [],
    description: 'Tools that are never retried; takes precedence over every other rule.',
  },
  {
    key: 'tools.sessionHours',
    kind: 'integer',
    minimum: 1,
    maximum: 8760,
    fallback: 24,
    description: 'Hours after which a session is over and prerequisites of workflows run again.',
  },
  {
    key: 'tools.idleExit',
    kind: 'integer',
    minimum: 0,
    maximum: 604_800,
    fallback: 1800,
    description:
      'Seconds without a request after which `skillrail tools serve` exits; 0 means never.',
  },
  {
    key: 'tools.embeddings',
    kind: 'choice',
    choices: ['off', 'local', 'endpoint'],
    fallback: 'off',
    userOnly: true,
    description:
      'Also routes requests by meaning: `local` in this process (@energetic-ai/embeddings), `endpoint` through a server, which then gets the requests and the descriptions of tools.',
  },
  {
    key: 'tools.embeddingsUrl',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'Base address of a server with an OpenAI-compatible `/embeddings`, such as http://127.0.0.1:11434/v1; its key comes from SKILLRAIL_TOOLS_EMBEDDINGS_KEY alone.',
  },
  {
    key: 'tools.embeddingsModel',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description: 'Name of the model on that server.',
  },
  {
    key: 'agent.model',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description:
      'Default model of commands, as `provider:name`; empty: commands require `--model`.',
  },
  {
    key: 'agent.baseUrl',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'Where the models of `openai-compatible:` are, such as http://127.0.0.1:11434/v1; a key for it comes from SKILLRAIL_AGENT_API_KEY alone.',
  },
  {
    key: 'agent.maxTurns',
    kind: 'integer',
    minimum: 1,
    maximum: 1000,
    fallback: 50,
    description: 'Maximum number of model calls in one task; then it ends with a summary.',
  },
  {
    key: 'agent.contextTokens',
    kind: 'integer',
    minimum: 1000,
    maximum: 10_000_000,
    fallback: 100_000,
    description:
      'Tokens, estimated as characters / 4, above which older parts of a conversation are left out.',
  },
  {
    key: 'agent.concurrency',
    kind: 'integer',
    minimum: 1,
    maximum: 1000,
    fallback: 10,
    description: 'Subagents that work at once; the others wait in order.',
  },
  {
    key: 'hooks.repeat',
    kind: 'choice',
    choices: ['prompt', 'session'],
    fallback: 'prompt',
    userOnly: true,
    description:
      '`session`: the hook gives a reference once a session while its text stays the same.',
  },
  {
    key: 'restate.url',
    kind: 'address',
    fallback: 'http://127.0.0.1:8080',
    userOnly: true,
    description:
      'Ingress address of the Restate server that executes runs with `--engine restate`.',
  },
  {
    key: 'restate.adminUrl',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description: 'Address of its admin interface; default: port 9070 on the host of the ingress.',
  },
  {
    key: 'restate.token',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description: 'Bearer token for the server and its admin interface; empty sends none.',
  },
  {
    key: 'restate.workerHost',
    kind: 'text',
    fallback: '127.0.0.1',
    userOnly: true,
    description: 'The address that `skillrail worker` listens on.',
  },
  {
    key: 'restate.workerPort',
    kind: 'integer',
    minimum: 0,
    maximum: 65_535,
    fallback: 9080,
    userOnly: true,
    description: 'The port that `skillrail worker` listens on; 0 selects a free port.',
  },
  {
    key: 'restate.workerAddress',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'Address of the worker, or its load balancer, to register with the server; empty registers nothing.',
  },
  {
    key: 'restate.identityKeys',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description: 'Public keys of the server; a worker refuses requests that none of them signed.',
  },
  {
    key: 'restate.via',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description: 'Agent clients that can execute steps without a script for a worker.',
  },
  {
    key: 'restate.models',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description:
      'Models, as `provider:name`, that can execute steps without a script for a worker; their address is `agent.baseUrl`.',
  },
  {
    key: 'restate.patience',
    kind: 'integer',
    minimum: 0,
    maximum: 86_400,
    fallback: 60,
    userOnly: true,
    description: 'Seconds to look for another worker when a worker cannot execute a step.',
  },
  {
    key: 'restate.resultLimit',
    kind: 'integer',
    minimum: 1024,
    maximum: 16_777_216,
    fallback: 4_194_304,
    userOnly: true,
    description: 'Maximum bytes of one step result, as JSON, that a worker sends to the server.',
  },
  {
    key: 'workspaceTrust',
    kind: 'choice',
    choices: ['ask', 'trusted'],
    fallback: 'ask',
    userOnly: true,
    description:
      '`trusted` trusts every project that is opened, for example in continuous integration.',
  },
] as const satisfies readonly Setting[]

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
