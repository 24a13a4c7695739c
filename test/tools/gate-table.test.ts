import { afterAll, beforeAll, expect, it } from 'vitest'
import { entries, type EntryName, type GateCase, ThingsServer, verdictOf } from './_gate-entries.ts'

const server = new ThingsServer()
beforeAll(() => server.listen())
afterAll(() => server.close())

/** A call that is made, after these questions and these steps of workflows. */
interface Made {
  steps?: readonly string[]
  questions: 0 | 1
}

/** A call that is refused with this sentence. */
interface Refused {
  refusal: string
  questions: 0 | 1
}

type Verdict = Made | Refused

interface Row {
  call: Partial<GateCase>
  verdict: Verdict
  /** Differs if the user wrote the call on the command line: `tools call`, `batch`, `chain`. */
  written?: Verdict
  /** Differs in a conversation of an agent. */
  agent?: Verdict
}

const made: Made = { questions: 0 }
const afterYes: Made = { questions: 1 }
const afterStep: Made = { questions: 0, steps: ['list_things'] }
const declined: Refused = { refusal: 'not called: things__', questions: 1 }
const agentDeclined: Refused = { refusal: 'the user did not approve it', questions: 1 }
const mayChange: Refused = {
  refusal: '{} needs your approval. It may change something.',
  questions: 0,
}
const agentCannotAsk: Refused = { refusal: 'it needs an approval (not read-only)', questions: 0 }
const alwaysAsks: Refused = {
  refusal: '{} needs your approval. The setting tools.ask names it.',
  questions: 0,
}
const agentAlwaysAsks: Refused = {
  refusal: 'it needs an approval (the setting tools.ask names it)',
  questions: 0,
}
const denied: Refused = { refusal: 'the setting tools.deny forbids things__', questions: 0 }
/** No tool that cannot be called is offered to a model. */
const notOffered: Refused = { refusal: 'there is no tool called things__', questions: 0 }
const serverUntrusted: Refused = {
  refusal: 'Not started: things, because the workspace was never trusted',
  questions: 0,
}
const workflowUntrusted: Refused = {
  refusal: "Workflow 'look' must run first and may not: it is configured by the project in",
  questions: 0,
}
const serverLost: Refused = {
  refusal: "Workflow 'look' must run first and cannot: it needs lost_tool, and gone cannot be used",
  questions: 0,
}

const rows: readonly Row[] = [
  { call: { effect: 'reads' }, verdict: made },
  { call: { effect: 'changes', user: 'yes' }, verdict: afterYes, written: made },
  {
    call: { effect: 'changes', user: 'no' },
    verdict: declined,
    written: made,
    agent: agentDeclined,
  },
  { call: { effect: 'changes' }, verdict: mayChange, written: made, agent: agentCannotAsk },
  { call: { effect: 'unknown' }, verdict: mayChange, written: made, agent: agentCannotAsk },
  // A program that approves in advance is an approver that says yes.
  { call: { effect: 'changes', user: 'in-advance' }, verdict: made, agent: afterYes },
  { call: { effect: 'changes', permission: 'allow' }, verdict: made },
  { call: { effect: 'unknown', permission: 'allow' }, verdict: made },
  { call: { effect: 'reads', permission: 'ask', user: 'yes' }, verdict: afterYes },
  {
    call: { effect: 'reads', permission: 'ask', user: 'no' },
    verdict: declined,
    agent: agentDeclined,
  },
  { call: { effect: 'reads', permission: 'ask' }, verdict: alwaysAsks, agent: agentAlwaysAsks },
  { call: { effect: 'changes', permission: 'ask' }, verdict: alwaysAsks, agent: agentAlwaysAsks },
  {
    call: { effect: 'changes', permission: 'ask', user: 'in-advance' },
    verdict: made,
    agent: afterYes,
  },
  { call: { effect: 'reads', permission: 'deny' }, verdict: denied, agent: notOffered },
  {
    call: { effect: 'changes', permission: 'deny', user: 'yes' },
    verdict: denied,
    agent: notOffered,
  },
  { call: { effect: 'reads', workflow: 'suggest' }, verdict: made },
  { call: { effect: 'reads', workflow: 'warn' }, verdict: afterStep },
  { call: { effect: 'reads', workflow: 'enforce' }, verdict: afterStep },
  {
    call: { effect: 'changes', workflow: 'enforce', user: 'yes' },
    verdict: { ...afterStep, questions: 1 },
    written: afterStep,
  },
  { call: { effect: 'reads', workflow: 'lost' }, verdict: serverLost },
  // An agent asks before it starts the servers that a workflow needs.
  {
    call: { effect: 'changes', workflow: 'lost', user: 'yes' },
    verdict: serverLost,
    agent: { ...serverLost, questions: 1 },
  },
  { call: { effect: 'reads', trust: 'project-untrusted' }, verdict: made },
  { call: { effect: 'reads', trust: 'project-untrusted', workflow: 'suggest' }, verdict: made },
  ...(['warn', 'enforce', 'lost'] as const).map((workflow): Row => ({
    call: { effect: 'reads', trust: 'project-untrusted', workflow },
    verdict: workflowUntrusted,
  })),
  {
    call: { effect: 'changes', trust: 'project-untrusted', workflow: 'enforce', user: 'yes' },
    verdict: workflowUntrusted,
    agent: { ...workflowUntrusted, questions: 1 },
  },
  {
    call: { effect: 'changes', trust: 'server-untrusted', user: 'in-advance' },
    verdict: serverUntrusted,
    agent: notOffered,
  },
]

const written: readonly EntryName[] = ['tools call', 'tools batch', 'tools chain']
const names = Object.keys(entries).filter((name): name is EntryName => name in entries)

it.each(rows)('decides in the same way at every entry point: $call', async (row) => {
  const one: GateCase = {
    permission: 'none',
    effect: 'reads',
    trust: 'trusted',
    workflow: 'none',
    user: 'nobody',
    ...row.call,
  }
  for (const name of names) {
    const expected = expectedOf(row, name)
    const { reached, questions, refusal } = await verdictOf(name, one, server)
    // Only one sentence of a refusal is compared, since each entry point adds its own advice.
    const sentence = 'refusal' in expected ? expected.refusal : undefined
    const isSame = sentence !== undefined && refusal?.includes(sentence) === true
    const steps = refusal === undefined ? reached.slice(0, -1) : reached
    expect({ name, questions, steps, refusal: isSame ? sentence : refusal }).toEqual({
      name,
      questions: expected.questions,
      steps: 'steps' in expected ? expected.steps : [],
      refusal: sentence,
    })
  }
})

function expectedOf(row: Row, name: EntryName): Verdict {
  if (name === 'agent') return row.agent ?? row.verdict
  return written.includes(name) ? (row.written ?? row.verdict) : row.verdict
}
