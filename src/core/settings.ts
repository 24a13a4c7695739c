interface Kind<Name extends string, Value> {
  kind: Name
  /** The default. */
  fallback: Value
}

type List = Kind<'paths' | 'names' | 'patterns' | 'words', readonly string[]>

/** An `address` is that of a server; the description says what an empty one means. */
type Text = Kind<'text' | 'address', string>

interface SettingBase {
  description: string
  /** A project's file may not set it: it would raise the project's own rights. Default: it may. */
  userOnly?: true
  /** A file adds to the list of those before it, so that a project takes nothing away. */
  adds?: true
}

type Shape =
  | List
  | Text
  | (Kind<'numbers', readonly number[]> & { minimum: number; maximum: number; most: number })
  | (Kind<'choice', string> & { choices: readonly string[] })
  | (Kind<'integer', number> & { minimum: number; maximum: number })

/** `key` is the place in a configuration file, such as `run.timeout`. */
export type Setting = SettingBase & Shape & { key: string }

const paths = list('paths')
const names = list('names')
const patterns = list('patterns')
const words = list('words')
const text: Text = { kind: 'text', fallback: '' }
const address: Text = { kind: 'address', fallback: '' }

const groups = {
  skills: {
    paths: setting('Further directories to search for skills.', paths),
    trustedPaths: own('Directories whose skills are trusted besides the user’s own.', paths),
    precedence: setting(
      'Whose skill takes precedence when two have the same name.',
      choice('project', 'user'),
    ),
  },
  run: {
    environment: setting(
      'Environment variables that scripts get besides PATH, HOME and the locale.',
      names,
    ),
    timeout: setting('Seconds for each skill; 0 means no limit.', integer(3600, 0, 604_800)),
    outputLimit: setting(
      'Maximum bytes of output kept for each stream of a script.',
      integer(8_388_608, 1024, 1_073_741_824),
    ),
    sandbox: own(
      'Whose scripts run in a sandbox. `refuse`: what is not trusted does not run at all.',
      choice('untrusted', 'all', 'refuse'),
    ),
    notify: own(
      'Command line that gets a run as JSON on standard input whenever it waits, fails or ends.',
      text,
    ),
  },
  tools: {
    retryWaits: setting(
      'Seconds to wait before each retry of a tool call that may be repeated; an empty list disables retries.',
      numbers([0, 1], 0, 600, 9),
    ),
    replaySafe: own(
      'Tools that may be called again after a failure, such as `github__get_*`.',
      patterns,
    ),
    neverReplay: setting(
      'Tools that are never retried; takes precedence over every other rule.',
      patterns,
    ),
    allow: own('Tools that are called without a question, such as `notes__*`.', patterns),
    ask: setting('Tools that always need a yes; takes precedence over `tools.allow`.', {
      ...patterns,
      adds: true,
    }),
    deny: setting('Tools that are never called; takes precedence over every other rule.', {
      ...patterns,
      adds: true,
    }),
    readOnly: own(
      'Tools that only read, whatever their server says of them, such as `tavily__*`.',
      patterns,
    ),
    sessionHours: setting(
      'Hours after which prerequisites of workflows run again.',
      integer(24, 1, 8760),
    ),
    idleExit: setting(
      'Seconds without a request after which `skillrail tools serve` exits; 0 means never.',
      integer(1800, 0, 604_800),
    ),
    embeddings: own(
      '`local` also routes requests by meaning, in this process (@energetic-ai/embeddings).',
      choice('off', 'local'),
    ),
    model: own(
      'Model, as `provider:name`, that `tools do` asks for the tool and its parameters.',
      text,
    ),
  },
  agent: {
    model: own(
      'Default model of commands, as `provider:name`; empty: commands require `--model`.',
      text,
    ),
    baseUrl: own(
      'Where the models of `openai-compatible:` are, such as http://127.0.0.1:11434/v1; its key is SKILLRAIL_AGENT_API_KEY.',
      address,
    ),
    maxTurns: setting('Maximum number of model calls in one task.', integer(50, 1, 1000)),
    contextTokens: setting(
      'Estimated tokens above which older parts of a conversation are left out.',
      integer(100_000, 1000, 10_000_000),
    ),
    concurrency: setting(
      'Subagents that work at once; the others wait in order.',
      integer(10, 1, 1000),
    ),
  },
  hooks: {
    repeat: own(
      '`session`: the hook gives a reference once a session.',
      choice('prompt', 'session'),
    ),
    budget: own(
      'Maximum estimated tokens of references that the hook adds at once; others are named.',
      integer(10_000, 100, 10_000_000),
    ),
  },
  restate: {
    url: own('Ingress address of the Restate server that executes runs with `--engine restate`.', {
      ...address,
      fallback: 'http://127.0.0.1:8080',
    }),
    adminUrl: own(
      'Address of its admin interface; default: port 9070 on the host of the ingress.',
      address,
    ),
    token: own('Bearer token for the server and its admin interface; empty sends none.', text),
    workerHost: own('The address that `skillrail worker` listens on.', {
      ...text,
      fallback: '127.0.0.1',
    }),
    workerPort: own(
      'The port that `skillrail worker` listens on; 0 selects a free port.',
      integer(9080, 0, 65_535),
    ),
    workerAddress: own(
      'Address of the worker, or its load balancer, to register with the server.',
      address,
    ),
    identityKeys: own('Public keys of the server, which signs its requests.', words),
    via: own('Agent clients that can execute steps without a script for a worker.', words),
    models: own(
      'Models, as `provider:name`, that can execute steps without a script for a worker.',
      words,
    ),
    patience: own(
      'Seconds to look for another worker that can execute a step.',
      integer(60, 0, 86_400),
    ),
    resultLimit: own(
      'Maximum bytes of one step result, as JSON, that a worker sends to the server.',
      integer(8_388_608, 1024, 16_777_216),
    ),
    scratch: own(
      'Absolute path of a directory that all workers and this machine share, for SKILLRAIL_SCRATCH, artifacts and logs.',
      text,
    ),
  },
  state: {
    directory: own(
      'Absolute path of the directory for run journals, sessions and logs; empty means the XDG state directory.',
      text,
    ),
  },
}

const workspaceTrust = own(
  '`trusted` trusts every project that is opened.',
  choice('ask', 'trusted'),
)

/** Every setting. Files, variables, documentation and the type {@link Settings} come from it. */
export const settingTable: readonly Setting[] = [
  ...Object.entries(groups).flatMap(([group, settings]) =>
    Object.entries<SettingBase & Shape>(settings).map(([name, one]) => {
      return { key: `${group}.${name}`, ...one }
    }),
  ),
  { key: 'workspaceTrust', ...workspaceTrust },
]

function setting<Value>(description: string, value: Value): SettingBase & Value {
  return { description, ...value }
}

function own<Value>(description: string, value: Value): SettingBase & Value {
  return { description, userOnly: true, ...value }
}

function integer(fallback: number, minimum: number, maximum: number) {
  return { kind: 'integer', fallback, minimum, maximum } as const
}

function numbers(fallback: readonly number[], minimum: number, maximum: number, most: number) {
  return { kind: 'numbers', fallback, minimum, maximum, most } as const
}

function choice<const Choice extends string>(fallback: Choice, ...others: Choice[]) {
  return { kind: 'choice', choices: [fallback, ...others], fallback } as const
}

function list(kind: List['kind']): List {
  return { kind, fallback: [] }
}

type ValueOf<Entry> = Entry extends { fallback: infer Value }
  ? Value
  : { [Name in keyof Entry]: ValueOf<Entry[Name]> }

/** What a user or a project can configure: `settings.run.timeout` is the setting `run.timeout`. */
export type Settings = ValueOf<typeof groups> & { workspaceTrust: ValueOf<typeof workspaceTrust> }

export type SettingValue = string | number | readonly string[] | readonly number[]

/** The environment variable that sets it: `SKILLRAIL_RUN_TIMEOUT` for `run.timeout`. */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  const words = key.replaceAll('.', '_').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
  return `SKILLRAIL_${words.toUpperCase()}`
}
