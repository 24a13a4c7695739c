import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { callTool } from '../../../src/tools/call/call-tool.ts'
import type { CallContext } from '../../../src/tools/call/context.ts'
import { projectGate } from '../../../src/tools/call/gate.ts'
import { openSession } from '../../../src/tools/workflow/session.ts'
import { runtimeIn, temporaryDirectory } from '../../trust/_project.ts'
import { settings, template } from '../../workflow/helpers.ts'
import { toolFixture, text } from './_fake.ts'

/** A browser with one page, and a context for each session that shares it. */
function sharedBrowser() {
  const root = temporaryDirectory()
  const project = join(root, 'project')
  const runtime = runtimeIn(root)
  const names = ['navigate_page', 'take_snapshot', 'click']
  // Each call takes a moment, in which another one would come in between.
  const answer = async () => {
    await wait(20)
    return text('done')
  }
  const { context, calls } = toolFixture(names.map((name) => ({ server: 'chrome', name, answer })))
  const contextOf = (id: string): CallContext => ({
    ...context,
    gate: projectGate({
      failures: () => [],
      project,
      runtime,
      workspaceTrust: 'trusted',
      workflows: template('browser'),
      diagnostics: [],
      session: openSession({ runtime, project, settings, id }),
      index: () => context.index,
      note: () => undefined,
    }),
  })
  const call = async (name: string, session: CallContext) =>
    await callTool({ tool: `chrome__${name}`, params: {} }, session)
  return { calls: () => calls.map((one) => one.split(' ')[0]?.slice(8)), contextOf, call }
}

describe('calls to a server whose state prerequisites read', () => {
  it('run one after the other with their prerequisites', async () => {
    const { calls, contextOf, call } = sharedBrowser()
    const session = contextOf('a')
    await call('click', session)
    await Promise.all([call('navigate_page', session), call('click', session)])
    expect(calls()).toEqual(['take_snapshot', 'click', 'navigate_page', 'take_snapshot', 'click'])
  })

  it('require prerequisites again in every session', async () => {
    const { calls, contextOf, call } = sharedBrowser()
    const [one, other] = [contextOf('a'), contextOf('b')]
    await call('click', one)
    await call('navigate_page', other)
    await call('click', one)
    expect(calls()).toEqual(['take_snapshot', 'click', 'navigate_page', 'take_snapshot', 'click'])
  })

  it('do not run between a prerequisite and its call from another session', async () => {
    const { calls, contextOf, call } = sharedBrowser()
    await Promise.all([call('click', contextOf('a')), call('navigate_page', contextOf('b'))])
    expect(calls().join(' ')).toMatch(
      /^(?:take_snapshot click navigate_page|navigate_page take_snapshot click)$/,
    )
  })
})
