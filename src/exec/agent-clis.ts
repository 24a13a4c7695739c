import type { AllowedTool } from '../skill/index.ts'

/** What a skill may ask of whoever executes it, in the spelling of its fields. */
export const skillRequests = ['allowed-tools', 'model', 'agent', 'hooks'] as const
export type SkillRequest = (typeof skillRequests)[number]

/** What of a skill's fields a client is told on its command line. */
export interface AgentWishes {
  allowedTools: readonly AllowedTool[]
  model: string | undefined
}

/** An agent's command line that can be asked headless. The prompt comes on standard input. */
export interface AgentCli {
  title: string
  /** Name of the program on the search path. */
  program: string
  /** The command that installs it. */
  install: string
  /** Headless, with the client's own permissions: no flag here raises them. */
  args(wishes: AgentWishes): readonly string[]
  /** Which requests of a skill `args` passes on; the others have no equal in this client. */
  honours: readonly SkillRequest[]
  /** Beginnings of the variables that hold its sign-in and its settings. */
  variables: readonly string[]
}

/** Tried with the versions that the client tests install. */
export const agentClis = {
  claude: {
    title: 'Claude Code',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    args: ({ allowedTools, model }) => [
      '-p',
      '--output-format',
      'text',
      ...(allowedTools.length === 0
        ? []
        : ['--allowedTools', allowedTools.map(toolText).join(',')]),
      ...(model === undefined ? [] : ['--model', model]),
    ],
    honours: ['allowed-tools', 'model'],
    variables: ['ANTHROPIC_', 'CLAUDE_', 'DISABLE_', 'AWS_', 'GOOGLE_', 'CLOUD_ML_'],
  },
  codex: {
    title: 'Codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    args: () => ['exec', '-'],
    honours: [],
    variables: ['OPENAI_', 'CODEX_'],
  },
  gemini: {
    title: 'Gemini CLI',
    program: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    args: () => ['--output-format', 'text'],
    honours: [],
    variables: ['GEMINI_', 'GOOGLE_'],
  },
  opencode: {
    title: 'OpenCode',
    program: 'opencode',
    install: 'npm install -g opencode-ai',
    args: () => ['run'],
    honours: [],
    variables: ['OPENCODE_', 'ANTHROPIC_', 'OPENAI_', 'GEMINI_', 'GOOGLE_', 'OPENROUTER_', 'AWS_'],
  },
  copilot: {
    title: 'Copilot CLI',
    program: 'copilot',
    install: 'npm install -g @github/copilot',
    args: () => ['--silent'],
    honours: [],
    variables: ['COPILOT_', 'GH_', 'GITHUB_TOKEN'],
  },
  qwen: {
    title: 'Qwen Code',
    program: 'qwen',
    install: 'npm install -g @qwen-code/qwen-code',
    args: () => ['--output-format', 'text'],
    honours: [],
    variables: ['QWEN_', 'DASHSCOPE_', 'OPENAI_'],
  },
} as const satisfies Record<string, AgentCli>

export type AgentCliName = keyof typeof agentClis

export function isAgentCli(name: string): name is AgentCliName {
  return Object.hasOwn(agentClis, name)
}

/** Variables that any program with a network connection needs to find its way. */
export const networkVariables: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
]

function toolText({ tool, pattern }: AllowedTool): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`
}
