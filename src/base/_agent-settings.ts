import type { Setting } from './settings.ts'

/** Which model the agents of the command line use. A project may not choose where prompts are sent. */
export const agentSettings: readonly Setting[] = [
  {
    key: 'agent.model',
    variable: 'SKILLRAIL_AGENT_MODEL',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description:
      'The model of commands that are given none, as `provider:name`; without one they ask for it.',
  },
  {
    key: 'agent.baseUrl',
    variable: 'SKILLRAIL_AGENT_BASE_URL',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'Where the models of `openai-compatible:` are, such as http://127.0.0.1:11434/v1; a key for it comes from SKILLRAIL_AGENT_API_KEY alone.',
  },
  {
    key: 'agent.maxTurns',
    variable: 'SKILLRAIL_AGENT_MAX_TURNS',
    kind: 'integer',
    minimum: 1,
    maximum: 1000,
    fallback: 50,
    userOnly: false,
    description: 'Model calls of one task until it is ended with a summary.',
  },
  {
    key: 'agent.contextTokens',
    variable: 'SKILLRAIL_AGENT_CONTEXT_TOKENS',
    kind: 'integer',
    minimum: 1000,
    maximum: 10_000_000,
    fallback: 100_000,
    userOnly: false,
    description:
      'Tokens, estimated as characters / 4, above which older parts of a conversation are left out.',
  },
  {
    key: 'agent.concurrency',
    variable: 'SKILLRAIL_AGENT_CONCURRENCY',
    kind: 'integer',
    minimum: 1,
    maximum: 1000,
    fallback: 10,
    userOnly: false,
    description: 'Subagents that work at once; the others wait in order.',
  },
]
