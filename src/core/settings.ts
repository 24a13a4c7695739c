import * as z from 'zod/mini'

interface SettingBase {
  description: string
  /** A project's file must not set it: it would raise the project's rights. Default: a project may set it. */
  userOnly?: true
  /** A later source adds to the list of the earlier ones, so that none removes a restriction. */
  adds?: true
  /**
   * The value of a user setting that allows most. While it applies, a project may set any other value;
   * two other values cannot be compared.
   */
  loosest?: string
}

/** The values that a setting can have. */
interface Values<Value extends SettingValue> {
  /** How the text of a variable becomes a value; `paths` are relative to their file. */
  kind: 'text' | 'number' | 'paths' | 'words' | 'numbers'
  /** The default. */
  fallback: Value
  /** What follows "must be" in a message. */
  expected: string
  schema: z.ZodMiniType<Value>
}

export type SettingValue = string | number | readonly string[] | readonly number[]

/** `key` is the place in a configuration file, such as `run.timeout`. */
export type Setting = SettingBase & Values<SettingValue> & { key: string }

const paths = texts('paths', 'a list of paths', /./s)
const names = texts('words', 'a list of names of environment variables', /^[A-Za-z_][A-Za-z0-9_]*$/)
const patterns = texts(
  'words',
  'a list of names of tools, with * for any characters',
  /^[\p{L}\p{N}\p{M}_.:/@+*-]{1,200}$/u,
)
const words = texts('words', 'a list of words', /^[^\s,]+$/)
const text = line('a text on one line', z.regex(/^[^\r\n]*$/))
const address = line('an address such as http://127.0.0.1:8080', z.refine(isAddress))

const groups = {
  skills: {
    paths: setting('Further directories to search for skills.', paths),
    trustedPaths: userSetting(
      'Directories whose skills are trusted besides the user’s own.',
      paths,
    ),
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
    sandbox: userSetting(
      'Whose scripts run in a sandbox. `refuse`: what is not trusted does not run at all.',
      { ...choice('untrusted', 'all', 'refuse'), loosest: 'untrusted' },
    ),
    notify: userSetting(
      'Command line that gets a run as JSON on standard input whenever it waits, fails or ends.',
      text,
    ),
  },
  tools: {
    retryWaits: setting(
      'Seconds to wait before each retry of a tool call that may be repeated; an empty list disables retries.',
      numbers([0, 1], 0, 600, 9),
    ),
    replaySafe: userSetting(
      'Tools that may be called again after a failure, such as `github__get_*`.',
      patterns,
    ),
    neverReplay: setting('Tools that are never retried; takes precedence over every other rule.', {
      ...patterns,
      adds: true,
    }),
    allow: userSetting('Tools that are called without a question, such as `notes__*`.', patterns),
    ask: setting('Tools that always need an approval; takes precedence over `tools.allow`.', {
      ...patterns,
      adds: true,
    }),
    deny: setting('Tools that are never called; takes precedence over every other rule.', {
      ...patterns,
      adds: true,
    }),
    readOnly: userSetting(
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
    model: userSetting(
      'Model, as `provider:name`, that `tools do` asks for the tool and its parameters.',
      text,
    ),
  },
  agent: {
    model: userSetting(
      'Default model of commands, as `provider:name`; empty: commands require `--model`.',
      text,
    ),
    baseUrl: userSetting(
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
    repeat: userSetting(
      '`session`: the hook injects a reference once a session.',
      choice('prompt', 'session'),
    ),
    budget: userSetting(
      'Maximum estimated tokens of references that the hook adds at once; others are named.',
      integer(10_000, 100, 10_000_000),
    ),
    notice: userSetting(
      '`line`: where the client can, it shows you which references the hook added to your prompt.',
      choice('none', 'line'),
    ),
  },
  rail: {
    start: userSetting(
      'When a chain that is invoked in an agent client runs as a rail.',
      choice('invoked', 'never'),
    ),
    approval: userSetting(
      'What every gate asks for at least, whatever its chain says.',
      choice('prompted', 'attended', 'signed'),
    ),
    signingKey: userSetting(
      'The key of `runs approve --sign`: absolute path, or a public key of an SSH agent; empty means Git’s `user.signingKey`.',
      text,
    ),
    allowedSigners: userSetting(
      'Absolute path of the list of keys that may sign approvals; empty means Git’s `gpg.ssh.allowedSignersFile` of your own configuration.',
      text,
    ),
  },
  restate: {
    url: userSetting(
      'Ingress address of the Restate server that executes runs with `--engine restate`.',
      {
        ...address,
        fallback: 'http://127.0.0.1:8080',
      },
    ),
    adminUrl: userSetting(
      'Address of its admin interface; default: port 9070 on the host of the ingress.',
      address,
    ),
    token: userSetting(
      'Bearer token for the server and its admin interface; empty sends none.',
      text,
    ),
    workerHost: userSetting('The address that `skillrail runs worker` listens on.', {
      ...text,
      fallback: '127.0.0.1',
    }),
    workerPort: userSetting(
      'The port that `skillrail runs worker` listens on; 0 selects a free port.',
      integer(9080, 0, 65_535),
    ),
    workerAddress: userSetting(
      'Address of the worker, or its load balancer, to register with the server.',
      address,
    ),
    identityKeys: userSetting('Public keys of the server, which signs its requests.', words),
    via: userSetting('Agent clients that can execute steps without a script for a worker.', words),
    models: userSetting(
      'Models, as `provider:name`, that can execute steps without a script for a worker.',
      words,
    ),
    patience: userSetting(
      'Seconds to look for another worker that can execute a step.',
      integer(60, 0, 86_400),
    ),
    resultLimit: userSetting(
      'Maximum bytes of one step result, as JSON, that a worker sends to the server.',
      integer(8_388_608, 1024, 16_777_216),
    ),
    scratch: userSetting(
      'Absolute path of a directory that all workers and this machine share, for SKILLRAIL_SCRATCH, artifacts and logs.',
      text,
    ),
  },
  state: {
    directory: userSetting(
      'Absolute path of the directory for run journals, sessions and logs; empty means the XDG state directory.',
      text,
    ),
  },
}

const workspaceTrust = userSetting('`trusted` trusts every project that is opened.', {
  ...choice('ask', 'trusted'),
  loosest: 'trusted',
})

/** Every setting. The table defines files, variables, documentation and the type {@link Settings}. */
export const settingTable: readonly Setting[] = [
  ...Object.entries(groups).flatMap(([group, settings]) =>
    Object.entries<SettingBase & Values<SettingValue>>(settings).map(([name, one]) => {
      return { key: `${group}.${name}`, ...one }
    }),
  ),
  { key: 'workspaceTrust', ...workspaceTrust },
]

function setting<Value>(description: string, value: Value): SettingBase & Value {
  return { description, ...value }
}

function userSetting<Value>(description: string, value: Value): SettingBase & Value {
  return { description, userOnly: true, ...value }
}

function integer(fallback: number, minimum: number, maximum: number): Values<number> {
  const schema = z.number().check(z.int(), z.minimum(minimum), z.maximum(maximum))
  return {
    kind: 'number',
    fallback,
    expected: `a whole number from ${minimum} to ${maximum}`,
    schema,
  }
}

function numbers(
  fallback: readonly number[],
  minimum: number,
  maximum: number,
  most: number,
): Values<readonly number[]> {
  const item = z.number().check(z.minimum(minimum), z.maximum(maximum))
  const schema = z.readonly(z.array(item).check(z.maxLength(most)))
  const expected = `a list of at most ${most} numbers from ${minimum} to ${maximum}`
  return { kind: 'numbers', fallback, expected, schema }
}

function choice<const Choice extends string>(
  fallback: Choice,
  ...otherChoices: Choice[]
): Values<Choice> {
  const choices = [fallback, ...otherChoices]
  const expected = choices.map((one) => `"${one}"`).join(' or ')
  return { kind: 'text', fallback, expected, schema: z.literal(choices) }
}

function texts(
  kind: 'paths' | 'words',
  expected: string,
  pattern: RegExp,
): Values<readonly string[]> {
  const schema = z.readonly(z.array(z.string().check(z.regex(pattern))))
  return { kind, fallback: [], expected, schema }
}

function line(expected: string, check: z.core.$ZodCheck<string>): Values<string> {
  return { kind: 'text', fallback: '', expected, schema: z.string().check(check) }
}

/** An empty text means no address. */
function isAddress(value: string): boolean {
  return value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? '')
}

type ValueOf<Entry> = Entry extends { fallback: infer Value }
  ? Value
  : { [Name in keyof Entry]: ValueOf<Entry[Name]> }

/** The settings of a user or project: `settings.run.timeout` is the setting `run.timeout`. */
export type Settings = ValueOf<typeof groups> & { workspaceTrust: ValueOf<typeof workspaceTrust> }

/** Returns the environment variable of a setting: `SKILLRAIL_RUN_TIMEOUT` for `run.timeout`. */
export function variableOf({ key }: Pick<Setting, 'key'>): string {
  const words = key.replaceAll('.', '_').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
  return `SKILLRAIL_${words.toUpperCase()}`
}
