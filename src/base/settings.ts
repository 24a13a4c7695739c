import { agentSettings } from './_agent-settings.ts'
import { restateSettings } from './_restate-settings.ts'

/** What a user or a project can configure; the defaults are those of {@link settingTable}. */
export interface Settings {
  skills: {
    /** Further directories to search for skills; absolute. */
    paths: readonly string[]
    /** Directories outside the user's and the project's own whose skills are trusted; absolute. */
    trustedPaths: readonly string[]
    /** Whose skill wins when a project and the user have one of the same name. */
    precedence: 'project' | 'user'
  }
  run: {
    /** Names of environment variables that scripts get besides the built-in few. */
    environment: readonly string[]
    /** Seconds for each skill whose chain sets no time-out; 0 is no limit. */
    timeout: number
    /** Bytes of output kept of each stream of a script. */
    outputLimit: number
    /** Whose scripts run in a sandbox; `refuse`: those that are not trusted do not run at all. */
    sandbox: 'untrusted' | 'all' | 'refuse'
  }
  tools: {
    /** Seconds to wait before the second, third … attempt of a call; their number bounds the attempts. */
    retryWaits: readonly number[]
    /** Tools that may be called again after a failure, as `SERVER__TOOL` with `*` for any characters. */
    replaySafe: readonly string[]
    /** Tools that are never called a second time; wins over everything. */
    neverReplay: readonly string[]
    /** Hours after which a session is over and prerequisites run again. */
    sessionHours: number
    /** Seconds without a request after which `tools serve` ends; 0 is never. */
    idleExit: number
    /** What compares the meaning of a request with that of tools, besides their words. */
    embeddings: 'off' | 'local' | 'endpoint'
    /** Base address of the endpoint. */
    embeddingsUrl: string
    /** The endpoint's model. */
    embeddingsModel: string
  }
  agent: {
    /** `provider:name`; empty for none. */
    model: string
    /** Where `openai-compatible:` models are; empty: it has to be said. */
    baseUrl: string
    maxTurns: number
    /** Above it a conversation is made shorter. */
    contextTokens: number
    /** Subagents that work at once. */
    concurrency: number
  }
  hooks: {
    /** Whether the same reference is put into a session at every prompt that asks for it, or once. */
    repeat: 'prompt' | 'session'
  }
  restate: {
    /** The ingress of the server. */
    url: string
    /** Its admin interface; empty for port 9070 beside the ingress. */
    adminUrl: string
    /** Sent to both as a bearer token; empty for none. */
    token: string
    /** Where a worker listens. */
    workerHost: string
    workerPort: number
    /** What a worker registers, that of a balancer if any; empty to register nothing. */
    workerAddress: string
    /** Public keys of the server; empty takes requests of anybody. */
    identityKeys: readonly string[]
    /** Agent clients that a worker may give steps to. */
    via: readonly string[]
    /** Models, as `provider:name`, that a worker may give steps to. */
    models: readonly string[]
    /** Seconds in which a step that no worker can execute is offered to all of them. */
    patience: number
    /** Bytes of one step's result as JSON. */
    resultLimit: number
  }
  /** `trusted` treats every project as trusted, as continuous integration wants it. */
  workspaceTrust: 'ask' | 'trusted'
}

export type SettingValue = string | number | readonly string[] | readonly number[]

interface SettingBase {
  /** The place in a configuration file, such as `run.timeout`. */
  key: string
  /** The environment variable that sets it; lists are separated as the kind says. */
  variable: string
  description: string
  /** A project's file may not set it: it would raise the project's own rights. */
  userOnly: boolean
}

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

/** Every setting there is; files, variables and documentation are read off this table. */
export const settingTable: readonly Setting[] = [
  {
    key: 'skills.paths',
    variable: 'SKILLRAIL_SKILLS_PATHS',
    kind: 'paths',
    fallback: [],
    userOnly: false,
    description: 'Further directories to search for skills.',
  },
  {
    key: 'skills.trustedPaths',
    variable: 'SKILLRAIL_SKILLS_TRUSTED_PATHS',
    kind: 'paths',
    fallback: [],
    userOnly: true,
    description: 'Directories whose skills are trusted besides the user’s own.',
  },
  {
    key: 'skills.precedence',
    variable: 'SKILLRAIL_SKILLS_PRECEDENCE',
    kind: 'choice',
    choices: ['project', 'user'],
    fallback: 'project',
    userOnly: false,
    description: 'Whose skill wins when the project and the user have one of the same name.',
  },
  {
    key: 'run.environment',
    variable: 'SKILLRAIL_RUN_ENVIRONMENT',
    kind: 'names',
    fallback: [],
    userOnly: false,
    description: 'Environment variables that scripts get besides PATH, HOME and the locale.',
  },
  {
    key: 'run.timeout',
    variable: 'SKILLRAIL_RUN_TIMEOUT',
    kind: 'integer',
    minimum: 0,
    maximum: 604_800,
    fallback: 0,
    userOnly: false,
    description: 'Seconds for each skill whose chain sets no time-out; 0 is no limit.',
  },
  {
    key: 'run.outputLimit',
    variable: 'SKILLRAIL_RUN_OUTPUT_LIMIT',
    kind: 'integer',
    minimum: 1024,
    maximum: 1_073_741_824,
    fallback: 1_048_576,
    userOnly: false,
    description: 'Bytes of output kept of each stream of a script; the rest is counted.',
  },
  {
    key: 'run.sandbox',
    variable: 'SKILLRAIL_RUN_SANDBOX',
    kind: 'choice',
    choices: ['untrusted', 'all', 'refuse'],
    fallback: 'untrusted',
    userOnly: true,
    description:
      'Whose scripts run in a sandbox: those of skills that are not trusted, or all. `refuse`: what is not trusted does not run at all.',
  },
  {
    key: 'tools.retryWaits',
    variable: 'SKILLRAIL_TOOLS_RETRY_WAITS',
    kind: 'numbers',
    minimum: 0,
    maximum: 600,
    most: 9,
    fallback: [0, 1],
    userOnly: false,
    description:
      'Seconds to wait before each further attempt of a tool call that may be repeated; an empty list in a file turns repeating off.',
  },
  {
    key: 'tools.replaySafe',
    variable: 'SKILLRAIL_TOOLS_REPLAY_SAFE',
    kind: 'patterns',
    fallback: [],
    userOnly: true,
    description: 'Tools that may be called again after a failure, such as `github__get_*`.',
  },
  {
    key: 'tools.neverReplay',
    variable: 'SKILLRAIL_TOOLS_NEVER_REPLAY',
    kind: 'patterns',
    fallback: [],
    userOnly: false,
    description: 'Tools that are never called a second time, whatever else says that they may be.',
  },
  {
    key: 'tools.sessionHours',
    variable: 'SKILLRAIL_TOOLS_SESSION_HOURS',
    kind: 'integer',
    minimum: 1,
    maximum: 8760,
    fallback: 24,
    userOnly: false,
    description: 'Hours after which a session is over and prerequisites of workflows run again.',
  },
  {
    key: 'tools.idleExit',
    variable: 'SKILLRAIL_TOOLS_IDLE_EXIT',
    kind: 'integer',
    minimum: 0,
    maximum: 604_800,
    fallback: 1800,
    userOnly: false,
    description: 'Seconds without a request after which `skillrail tools serve` ends; 0 is never.',
  },
  {
    key: 'tools.embeddings',
    variable: 'SKILLRAIL_TOOLS_EMBEDDINGS',
    kind: 'choice',
    choices: ['off', 'local', 'endpoint'],
    fallback: 'off',
    userOnly: true,
    description:
      'Routes requests by meaning too: `local` in this process (@energetic-ai/embeddings), `endpoint` through a server, which then gets the requests and the descriptions of tools.',
  },
  {
    key: 'tools.embeddingsUrl',
    variable: 'SKILLRAIL_TOOLS_EMBEDDINGS_URL',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'Base address of a server with an OpenAI-compatible `/embeddings`, such as http://127.0.0.1:11434/v1; its key comes from SKILLRAIL_TOOLS_EMBEDDINGS_KEY alone.',
  },
  {
    key: 'tools.embeddingsModel',
    variable: 'SKILLRAIL_TOOLS_EMBEDDINGS_MODEL',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description: 'The model that this server is asked for.',
  },
  ...agentSettings,
  {
    key: 'hooks.repeat',
    variable: 'SKILLRAIL_HOOKS_REPEAT',
    kind: 'choice',
    choices: ['prompt', 'session'],
    fallback: 'prompt',
    userOnly: true,
    description:
      '`session`: the hook gives a reference once a session while its text stays the same.',
  },
  ...restateSettings,
  {
    key: 'workspaceTrust',
    variable: 'SKILLRAIL_WORKSPACE_TRUST',
    kind: 'choice',
    choices: ['ask', 'trusted'],
    fallback: 'ask',
    userOnly: true,
    description:
      '`trusted` trusts every project that is opened, as continuous integration wants it.',
  },
]
