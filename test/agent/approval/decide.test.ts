import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPermit, type HookVerdict } from '../../../src/agent/approval/permit.ts'
import type { PermissionMode } from '../../../src/agent/approval/permission-mode.ts'
import type { ApprovalRequest, Permission } from '../../../src/agent/types.ts'
import { echoTool } from '../mock-replies.ts'

interface CallFacts {
  denied: 'yes' | 'no' | 'unclear'
  narrowedBy: string | undefined
  hook: HookVerdict | undefined
  preApproved: boolean
  readOnly: boolean
  needsApproval: boolean | undefined
  own: boolean
  alwaysAsk: string | undefined
  mustAsk: string | undefined
  mode: PermissionMode
  approver: boolean
}

const plain: CallFacts = {
  denied: 'no',
  narrowedBy: undefined,
  hook: undefined,
  preApproved: false,
  readOnly: false,
  needsApproval: undefined,
  own: false,
  alwaysAsk: undefined,
  mustAsk: undefined,
  mode: 'default',
  approver: true,
}

const allowingHook = { decision: 'allow', reason: 'ok' } as const
const denyingHook = { decision: 'deny', reason: 'the hook says no' } as const
const askingHook = { decision: 'ask', reason: 'the hook wants it' } as const

interface Decided {
  kind: 'allow' | 'ask' | 'refuse'
  reason: string | undefined
}

/** A command that a deny list names, does not name, or may name. */
const commands = { yes: 'rm x', no: 'ls', unclear: '$(ls)' }

async function decideCall(facts: CallFacts): Promise<Decided> {
  const { readOnly, needsApproval, alwaysAsk, hook, narrowedBy, mode } = facts
  const asked: ApprovalRequest[] = []
  const permit = createPermit({
    agent: 'main',
    platform: 'linux',
    mode,
    denied: [{ tool: 'shell', pattern: 'rm:*' }],
    rules: () => ({
      preApproved: facts.preApproved ? [{ tool: 'shell' }] : [],
      narrowed: narrowedBy === undefined ? [] : [{ skill: narrowedBy, tools: [] }],
      beforeTool: async () => hook,
    }),
    approver: facts.approver
      ? async (request) => {
          asked.push(request)
          return { approved: true }
        }
      : undefined,
  })
  const tool = echoTool('shell', {
    readOnly,
    needsApproval,
    origin: { kind: facts.own ? 'program' : 'built-in' },
    patternText: () => commands[facts.denied],
    patternKind: 'command',
    alwaysAsk: () => alwaysAsk,
    mustAsk: facts.mustAsk,
  })
  const context = { toolCallId: '1', signal: AbortSignal.any([]), onEvent: () => undefined }
  const permission: Permission = await permit(tool, {}, context)
  const [question] = asked
  if (question !== undefined) return { kind: 'ask', reason: question.reason }
  if (permission.allowed) return { kind: 'allow', reason: undefined }
  return { kind: 'refuse', reason: permission.reason }
}

describe('a call is decided', () => {
  it.each<[string, Partial<CallFacts>, 'allow' | 'ask' | 'refuse']>([
    ['by asking, when nothing speaks for it', {}, 'ask'],
    ['by refusing, when nobody can be asked', { approver: false }, 'refuse'],
    ['by refusing what would ask, in dont-ask', { mode: 'dont-ask' }, 'refuse'],
    ['freely, when it changes nothing', { readOnly: true }, 'allow'],
    ['freely, when it changes nothing, in plan', { readOnly: true, mode: 'plan' }, 'allow'],
    ['freely, when it changes nothing, in dont-ask', { readOnly: true, mode: 'dont-ask' }, 'allow'],
    ['against it in plan', { mode: 'plan' }, 'refuse'],
    ['against it in plan though approved', { mode: 'plan', preApproved: true }, 'refuse'],
    ['against it in plan though a hook allows', { mode: 'plan', hook: allowingHook }, 'refuse'],
    ['freely, when it is the own tool', { own: true }, 'allow'],
    ['by asking, when the own tool wants that', { own: true, needsApproval: true }, 'ask'],
    ['by asking, when a reading tool wants that', { readOnly: true, needsApproval: true }, 'ask'],
    ['freely, when the tool never asks', { needsApproval: false }, 'allow'],
    ['freely, when a skill approves', { preApproved: true }, 'allow'],
    [
      'freely, when a skill approves, in dont-ask',
      { preApproved: true, mode: 'dont-ask' },
      'allow',
    ],
    [
      'freely, when a skill approves what wants asking',
      { preApproved: true, needsApproval: true },
      'allow',
    ],
    ['freely, when a hook allows', { hook: allowingHook }, 'allow'],
    ['by asking, when a hook wants that', { hook: askingHook, preApproved: true }, 'ask'],
    [
      'by asking, when a hook wants that for a reading tool',
      { hook: askingHook, readOnly: true },
      'ask',
    ],
    ['against it, when a hook denies', { hook: denyingHook, preApproved: true }, 'refuse'],
    ['against it, when it is denied', { denied: 'yes', hook: allowingHook }, 'refuse'],
    ['by asking, when that cannot be told', { denied: 'unclear', preApproved: true }, 'ask'],
    [
      'by asking, when that cannot be told though a hook allows',
      { denied: 'unclear', hook: allowingHook },
      'ask',
    ],
    [
      'against it, when an untrusted skill has it not',
      { narrowedBy: 'x', preApproved: true },
      'refuse',
    ],
    ['against it, when narrowed though it reads', { narrowedBy: 'x', readOnly: true }, 'refuse'],
    ['by asking, when it leads outside', { alwaysAsk: 'outside', readOnly: true }, 'ask'],
    [
      'by asking, when it leads outside though approved',
      { alwaysAsk: 'outside', preApproved: true },
      'ask',
    ],
    [
      'by refusing, when it leads outside and nobody is there',
      { alwaysAsk: 'outside', approver: false },
      'refuse',
    ],
    [
      'freely, when it leads outside and a hook allows',
      { alwaysAsk: 'outside', hook: allowingHook },
      'allow',
    ],
  ])('%s', async (_, facts, kind) => {
    expect((await decideCall({ ...plain, ...facts })).kind).toBe(kind)
  })

  const facts = fc.record<CallFacts>({
    denied: fc.constantFrom('yes', 'no', 'unclear'),
    narrowedBy: fc.constantFrom(undefined, 'x'),
    hook: fc.constantFrom(undefined, allowingHook, denyingHook, askingHook),
    preApproved: fc.boolean(),
    readOnly: fc.boolean(),
    needsApproval: fc.constantFrom(undefined, true, false),
    own: fc.boolean(),
    alwaysAsk: fc.constantFrom(undefined, 'outside'),
    mustAsk: fc.constantFrom(undefined, 'the user wants that'),
    mode: fc.constantFrom('default', 'plan', 'dont-ask'),
    approver: fc.boolean(),
  })

  it('is never decided more freely with a further restriction', async () => {
    const taking: Partial<CallFacts>[] = [
      { denied: 'yes' },
      { narrowedBy: 'x' },
      { hook: denyingHook },
    ]
    await fc.assert(
      fc.asyncProperty(facts, fc.constantFrom(...taking), async (given, taken) => {
        const { kind } = await decideCall({ ...given, ...taken })
        expect(kind).toBe('refuse')
      }),
    )
  })

  it('is never allowed without a question if the user wants to be asked about the tool', async () => {
    await fc.assert(
      fc.asyncProperty(facts, async (given) => {
        const decision = await decideCall({ ...given, mustAsk: 'the user wants that' })
        expect(decision.kind).not.toBe('allow')
      }),
    )
  })

  it('is never a question without an approver, and always has a reason', async () => {
    await fc.assert(
      fc.asyncProperty(facts, async (given) => {
        const decision = await decideCall(given)
        const mayAsk = given.approver && given.mode !== 'dont-ask'
        expect(decision.kind === 'ask' && !mayAsk).toBe(false)
        expect(decision).not.toMatchObject({ reason: '' })
      }),
    )
  })
})
