import type { FailureKind } from './retry-policy.ts'

/** What to do after a failure, by its kind. */
const byKind: Readonly<Record<FailureKind, readonly string[]>> = {
  'tool-not-found': ['Run skillrail tools refresh to update the tool cache'],
  'invalid-parameters': ['Compare the parameters with skillrail tools show'],
  'input-required': ['Look at the parameters with skillrail tools show'],
  'server-unavailable': ['Check how the server is started with skillrail tools import'],
  timeout: ['Narrow the scope or reduce the output', 'Raise the time limit and try again'],
  'connection-lost': ['Check what the call did before you repeat it'],
  protocol: ['Look at the server’s own log'],
  cancelled: ['Call the tool again when you want it to go on'],
  'permission-denied': ['Check the credentials and the rights of the account that the server uses'],
  'rate-limited': ['Reduce the query frequency and try again later'],
  'element-missing': ['Run take_snapshot to refresh the uids'],
  'not-found': ['Check the spelling of the names that were given'],
  'too-large': ['Ask for less: narrow the request, or read it page by page'],
  execution: ['Read the error message and correct the parameters'],
}

/** What to do instead, by the tool's category and what the message says. */
const byCategory: readonly {
  category: string
  sign: RegExp
  suggestions: readonly string[]
}[] = [
  {
    category: 'browser',
    sign: /\bnet::ERR_|\bNS_ERROR_/,
    suggestions: ['Check that the address is right and that something answers there'],
  },
  {
    category: 'browser',
    sign: /element|snapshot|uid|click/i,
    suggestions: ['Run take_snapshot to refresh the uids', 'Scroll to or hover the element first'],
  },
  {
    category: 'github',
    sign: /not found|404/i,
    suggestions: ['Verify the spelling of owner and repo', 'Confirm the access rights'],
  },
  {
    category: 'graphql',
    sign: /type|field/i,
    suggestions: ['List the available types and fields again'],
  },
  {
    category: 'graphql',
    sign: /fetch|connect|auth|40[13]/i,
    suggestions: ['Verify the endpoint and its authentication'],
  },
  {
    category: 'docs',
    sign: /librar|resolve/i,
    suggestions: ['Provide the full name of the package'],
  },
  { category: 'docs', sign: /no match|not found|no result/i, suggestions: ['Broaden the query'] },
  {
    category: 'database',
    sign: /connect|refused/i,
    suggestions: ['Check the connection settings of the database'],
  },
]

/** At least one next step, the most specific first. */
export function suggestRecovery(
  kind: FailureKind,
  message: string,
  category: string | undefined,
): readonly string[] {
  const specific = byCategory.filter(
    (entry) => entry.category === category && entry.sign.test(message.slice(0, 500)),
  )
  return [...new Set([...specific.flatMap((entry) => entry.suggestions), ...byKind[kind]])].slice(
    0,
    3,
  )
}
