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
  }
  hooks: {
    /** Whether the same reference is put into a session at every prompt that asks for it, or once. */
    repeat: 'prompt' | 'session'
  }
  /** `trusted` treats every project as trusted, as continuous integration wants it. */
  workspaceTrust: 'ask' | 'trusted'
}

export type SettingValue = string | number | readonly string[]

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
    | { kind: 'paths' | 'names'; fallback: readonly string[] }
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
    key: 'hooks.repeat',
    variable: 'SKILLRAIL_HOOKS_REPEAT',
    kind: 'choice',
    choices: ['prompt', 'session'],
    fallback: 'prompt',
    userOnly: true,
    description:
      '`session`: the hook gives a reference once a session while its text stays the same.',
  },
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
