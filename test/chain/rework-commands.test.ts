import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
  skills({ plan: log('plan'), work: log('work'), publish: log('publish') })
})
afterEach(() => project.remove())

const { command, skills } = commandsIn(() => project)
const yes = { answer: 'y' }
const gated = ['chain: |', '  plan', '  work', '  publish gate rework=work']

/** A run that waits at the gate of its last step. */
async function waitingRun(metadata: readonly string[] = gated): Promise<string> {
  project.write('main', { metadata })
  const { json } = await command('run main --json')
  return json.runId
}

describe('the plan of a chain whose rejections lead back', () => {
  it('shows the rework in words and in JSON', async () => {
    project.write('main', { metadata: gated })
    const { lines } = await command('chain plan main')
    expect(lines.at(-1)).toBe(
      'publish: a rejection leads back to work, at most 3 times; the next one ends the run',
    )
    expect((await command('run main --dry-run')).lines).toEqual(lines)
    const { json } = await command('chain plan main --json')
    expect(json.steps[2]).toMatchObject({ gate: true, rework: 'work' })
  })

  it.each([[['async: true']], [['async: true', 'race_mode: true']]])(
    'is refused if steps have no order: %j',
    async (policy) => {
      project.write('main', { metadata: [...gated, ...policy] })
      const { error, json } = await command('chain plan main --json')
      const codes = error ? [error.code] : json.diagnostics.map(({ code }) => code)
      expect(codes).toContain('rework-with-async')
    },
  )

  it('can run every step, also one that only runs if the gate is rejected', async () => {
    project.write('tidy', log('tidy'))
    project.write('main', { metadata: [...gated, '  tidy always when=publish.failure'] })
    expect((await command('chain plan main --json')).json.diagnostics).toEqual([])
  })
})

describe('a run that a rejection led back', () => {
  it('shows the round of a step, and why the results before it are void', async () => {
    const runId = await waitingRun()
    const rejected = await command(`runs reject ${runId} --reason untested`, yes)
    expect(rejected.code).toBe(6)
    const { lines } = await command(`runs show ${runId}`)
    expect(lines.join('\n')).toContain('round 2: publish was rejected (untested)')
    expect(lines.find((line) => line.includes('work '))).toContain('round 2')
    expect(lines.join('\n')).toContain('reason: untested')
  })

  it.each(['junit', 'github', 'html'])('shows the rework in a %s report', async (format) => {
    const runId = await waitingRun()
    await command(`runs reject ${runId} --reason untested`, yes)
    const { lines } = await command(`runs show ${runId} --report ${format}`)
    expect(lines.join('\n')).toContain('round 2: publish was rejected (untested)')
  })

  it('continues its round after a kill, and repeats nothing that has a result', async () => {
    project.write('work', {
      run: 'echo work >> log; [ ! -e slow ] || { touch running; sleep 60; }',
    })
    const runId = await waitingRun()
    // With a changed skill, only the decision is recorded.
    project.write('publish', log('other'))
    await command(`runs reject ${runId} --reason untested`, yes)
    project.write('publish', log('publish'))
    writeFileSync(join(project.directory, 'slow'), '')
    const resumed = project.start(['runs', 'resume', runId])
    while (!existsSync(join(project.directory, 'running'))) await sleep(20)
    resumed.kill('SIGKILL')
    await resumed.ended
    rmSync(join(project.directory, 'slow'))
    expect((await command(`runs resume ${runId}`)).code).toBe(6)
    expect(project.log()).toEqual(['plan', 'work', 'work', 'work'])
    expect((await command(`runs approve ${runId}`, yes)).code).toBe(0)
    expect(project.log().at(-1)).toBe('publish')
  })

  it('is forked with the results that count, and without a decision', async () => {
    const runId = await waitingRun()
    await command(`runs reject ${runId} --reason untested`, yes)
    await command(`runs approve ${runId}`, yes)
    expect(project.log()).toEqual(['plan', 'work', 'work', 'publish'])
    const fork = await command(`runs fork ${runId} --from publish --json`)
    expect(fork.code).toBe(6)
    expect(project.log()).toHaveLength(4)
    const [, work] = fork.json.attempts[0]?.steps ?? []
    expect(work).toMatchObject({ reused: true, status: 'success' })
    const again = await command(`runs reject ${fork.json.runId} --reason untested`, yes)
    expect([again.code, project.log().slice(4)]).toEqual([6, ['work']])
  })

  it('is retried with the successes of its last round alone', async () => {
    project.write('work', { run: 'echo work >> log; [ ! -e broken ]' })
    const runId = await waitingRun([...gated, 'continue_on_error: false'])
    writeFileSync(join(project.directory, 'broken'), '')
    expect((await command(`runs reject ${runId} --reason untested`, yes)).code).toBe(1)
    rmSync(join(project.directory, 'broken'))
    expect((await command(`runs retry ${runId}`)).code).toBe(6)
    expect(project.log()).toEqual(['plan', 'work', 'work', 'work'])
  })

  it('records a rejection although the skills have changed, and executes nothing', async () => {
    const runId = await waitingRun()
    project.write('work', log('other-work'))
    expect((await command(`runs reject ${runId} --reason untested`, yes)).code).not.toBe(0)
    expect(project.log()).toEqual(['plan', 'work'])
    const { json } = await command(`runs show ${runId} --json`)
    expect(json).toMatchObject({ status: 'interrupted' })
  })
})

describe('a chain that an agent is driven through', () => {
  it('is handed the step again with the reason, and its first report does not count', async () => {
    skills({ draft: { body: 'DO IT.' } })
    project.write('main', {
      metadata: ['chain: |', '  plan', '  draft', '  publish gate rework=draft'],
    })
    const { runId, next } = (await command('chain start main --json')).json
    expect(next).toMatchObject([{ step: 'draft', attempt: 1 }])
    expect((await command(`chain report ${runId} --step draft --status success`)).code).toBe(6)
    expect((await command(`runs reject ${runId} --reason untested`, yes)).code).toBe(6)
    const again = (await command(`chain next ${runId} --json`)).json
    expect(again.next).toMatchObject([{ step: 'draft', attempt: 2 }])
    expect(again.next[0]?.content).toContain('The reason: untested')
    const late = await command(`chain report ${runId} --step draft --attempt 1 --status success`)
    expect(late.error?.code).toBe('report-refused')
    const waiting = await command(
      `chain report ${runId} --step draft --attempt 2 --status success --json`,
    )
    expect(waiting.json).toMatchObject({ waiting: { step: 'publish' } })
    expect(project.log()).toEqual(['plan'])
  })
})
