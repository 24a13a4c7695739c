import type { Setting } from './settings.ts'

/**
 * Where the Restate server and its workers are. Nothing of it is a project's: the arguments of runs and
 * the token go where it points.
 */
export const restateSettings: readonly Setting[] = [
  {
    key: 'restate.url',
    variable: 'SKILLRAIL_RESTATE_URL',
    kind: 'address',
    fallback: 'http://127.0.0.1:8080',
    userOnly: true,
    description: 'The Restate server that runs with `--engine restate` are handed to: its ingress.',
  },
  {
    key: 'restate.adminUrl',
    variable: 'SKILLRAIL_RESTATE_ADMIN_URL',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description: 'Its admin interface; port 9070 beside the ingress where none is set.',
  },
  {
    key: 'restate.token',
    variable: 'SKILLRAIL_RESTATE_TOKEN',
    kind: 'text',
    fallback: '',
    userOnly: true,
    description: 'Sent to both as a bearer token; none where none is set.',
  },
  {
    key: 'restate.workerHost',
    variable: 'SKILLRAIL_RESTATE_WORKER_HOST',
    kind: 'text',
    fallback: '127.0.0.1',
    userOnly: true,
    description: 'The address that `skillrail worker` listens on.',
  },
  {
    key: 'restate.workerPort',
    variable: 'SKILLRAIL_RESTATE_WORKER_PORT',
    kind: 'integer',
    minimum: 0,
    maximum: 65_535,
    fallback: 9080,
    userOnly: true,
    description: 'The port that it listens on; 0 takes any free one.',
  },
  {
    key: 'restate.workerAddress',
    variable: 'SKILLRAIL_RESTATE_WORKER_ADDRESS',
    kind: 'address',
    fallback: '',
    userOnly: true,
    description:
      'What it tells the server, that of a balancer if any; nothing is told where none is set.',
  },
  {
    key: 'restate.identityKeys',
    variable: 'SKILLRAIL_RESTATE_IDENTITY_KEYS',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description: 'Public keys of the server; a worker refuses requests that none of them signed.',
  },
  {
    key: 'restate.via',
    variable: 'SKILLRAIL_RESTATE_VIA',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description: 'Agent clients that a worker may give steps without a script to.',
  },
  {
    key: 'restate.models',
    variable: 'SKILLRAIL_RESTATE_MODELS',
    kind: 'words',
    fallback: [],
    userOnly: true,
    description:
      'Models, as `provider:name`, that a worker may give steps without a script to; their address is `agent.baseUrl`.',
  },
  {
    key: 'restate.patience',
    variable: 'SKILLRAIL_RESTATE_PATIENCE',
    kind: 'integer',
    minimum: 0,
    maximum: 86_400,
    fallback: 60,
    userOnly: true,
    description: 'Seconds in which a step that a worker cannot execute is offered to the others.',
  },
  {
    key: 'restate.resultLimit',
    variable: 'SKILLRAIL_RESTATE_RESULT_LIMIT',
    kind: 'integer',
    minimum: 1024,
    maximum: 16_777_216,
    fallback: 4_194_304,
    userOnly: true,
    description: 'Bytes of one step’s result as JSON that a worker hands to the server.',
  },
]
