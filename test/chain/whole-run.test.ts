import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandsIn, runCommand } from './_command.ts'
import { makeProject, type TestProject } from './_project.ts'
import { withinLimit } from '../patience.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command } = commandsIn(() => project)

function write(path: string, text: string): void {
  const absolute = join(project.directory, path)
  mkdirSync(dirname(absolute), { recursive: true })
  writeFileSync(absolute, text)
}

/** As `skillrail trust --yes` does. */
async function trustWorkspace(): Promise<void> {
  const words = ['trust', '--yes']
  const { code } = await runCommand('trust', words, project, { workspaceTrust: 'ask' })
  expect(code).toBe(0)
}

describe('--max-time', () => {
  it('ends the whole run with exit code 5, and a resume continues it', async () => {
    project.write('main', { metadata: ['chain: [a, slow]'] })
    project.write('a', { run: 'echo a >> log' })
    project.write('slow', { run: 'touch began; test -e fast || sleep 600; echo slow >> log' })
    const { code, json } = await withinLimit(
      700,
      async (limit) => {
        rmSync(join(project.directory, 'log'), { force: true })
        return await command(`run main --max-time ${limit / 1000} --json`)
      },
      () => existsSync(join(project.directory, 'began')),
    )
    expect(code).toBe(5)
    write('fast', '')
    expect((await command(`runs resume ${json.runId}`)).code).toBe(0)
    expect(project.log()).toEqual(['a', 'slow'])
  })

  it.each(['0', '-1', 'soon', '1e12'])('is wrong use with the value %s', async (value) => {
    project.write('a', { run: 'true' })
    expect((await command(`run a --max-time=${value}`)).code).toBe(2)
  })
})

describe('a trusted workspace whose files change during a run', () => {
  it('refuses the step whose helper was edited', async () => {
    project.write('main', { metadata: ['chain: [edit, victim]', 'continue_on_error: true'] })
    project.write('edit', {
      run: 'echo "echo changed >> log" > .skillrail/skills/victim/scripts/helper.sh',
    })
    project.write('victim', { run: '. "$SKILLRAIL_SKILL_DIR/scripts/helper.sh"' })
    write('.skillrail/skills/victim/scripts/helper.sh', 'echo helped >> log\n')
    await trustWorkspace()
    const { code, json } = await command('run main --json', { workspaceTrust: 'ask' })
    expect(code).toBe(1)
    expect(json.attempts[0]?.steps[1]).toMatchObject({ errors: [{ code: 'skill-not-trusted' }] })
    expect(project.log()).toEqual([])
  })

  it('runs every step while nothing changes', async () => {
    project.write('main', { metadata: ['chain: [a, b]'] })
    project.write('a', { run: 'echo a >> log' })
    project.write('b', { run: 'echo b >> log' })
    await trustWorkspace()
    expect((await command('run main', { workspaceTrust: 'ask' })).code).toBe(0)
    expect(project.log()).toEqual(['a', 'b'])
  })
})

describe('run.environment of a project', () => {
  const fixture = { env: { DATABASE_URL: 'postgres://secret' } }
  beforeEach(() => {
    project.write('show', { run: 'echo "url=$DATABASE_URL" >> log' })
  })

  it('counts when the configuration is as it was accepted', async () => {
    write('.skillrail/config.json', '{ "run": { "environment": ["DATABASE_URL"] } }')
    await trustWorkspace()
    await command('run show', { ...fixture, workspaceTrust: 'ask' })
    expect(project.log()).toEqual(['url=postgres://secret'])
  })

  it('is ignored, with a warning, when the configuration was changed since', async () => {
    await trustWorkspace()
    write('.skillrail/config.json', '{ "run": { "environment": ["DATABASE_URL"] } }')
    const { code, notes } = await command('run show', { ...fixture, workspaceTrust: 'ask' })
    expect([code, notes.join('\n')]).toEqual([
      0,
      expect.stringContaining('because it is not trusted'),
    ])
    expect(project.log()).toEqual(['url='])
  })

  it('is ignored in a nested configuration, which no user sees', async () => {
    await trustWorkspace()
    write('packages/a/.skillrail/config.json', '{ "run": { "environment": ["DATABASE_URL"] } }')
    const from = 'packages/a'
    const { notes } = await command('run show', { ...fixture, workspaceTrust: 'ask', from })
    expect(notes.join('\n')).toContain('because it is not trusted')
    expect(project.log()).toEqual(['url='])
  })

  it('takes effect from the user, whatever the project says', async () => {
    await trustWorkspace()
    write('.skillrail/config.json', '{ "run": { "environment": ["HOME"] } }')
    const env = { ...fixture.env, SKILLRAIL_RUN_ENVIRONMENT: 'DATABASE_URL' }
    await command('run show', { env, workspaceTrust: 'ask' })
    expect(project.log()).toEqual(['url=postgres://secret'])
  })
})

describe('a run that an agent is driven through', () => {
  beforeEach(() => {
    project.write('main', { metadata: ['chain: [count, review, fix]'] })
    project.write('count', { run: 'echo count >> log' })
    project.write('review', { body: 'REVIEW' })
    project.write('fix', { body: 'FIX' })
  })

  it('is retried by driving it again, from the failed step', async () => {
    const { json } = await command('chain start main --json')
    await command(`chain report ${json.runId} --step review --status success`)
    await command(`chain report ${json.runId} --step fix --status failure`)
    const retried = await command(`runs retry ${json.runId}`)
    expect(retried.code).toBe(0)
    expect(retried.lines.join('\n')).toContain('FIX')
    expect(retried.lines.join('\n')).toContain('skillrail chain report')
    expect(project.log()).toEqual(['count'])
  })

  it('is forked by driving it again, from the step that was named', async () => {
    const { json } = await command('chain start main --json')
    await command(`chain report ${json.runId} --step review --status success`)
    await command(`chain report ${json.runId} --step fix --status success`)
    const forked = await command(`runs fork ${json.runId} --from review`)
    expect([forked.code, forked.lines.join('\n')]).toEqual([0, expect.stringContaining('REVIEW')])
  })
})
