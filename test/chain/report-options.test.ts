import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
  skills({ plan: log('plan'), publish: log('publish') })
  project.write('main', { metadata: ['chain: |', '  plan', '  publish gate'] })
})
afterEach(() => project.remove())

const { command, skills } = commandsIn(() => project)
const yes = { answer: 'y' }
const outputs = '--events=events.jsonl --report junit=report.xml'

it.each(['runs resume', 'runs approve', 'runs reject', 'runs retry'])(
  '%s writes events and reports like run',
  async (name) => {
    const { runId } = (await command('run main --json')).json
    if (name === 'runs retry') await command(`runs reject ${runId}`, yes)
    const { error } = await command(`${name} ${runId} ${outputs}`, yes)
    expect(error).toBeUndefined()
    // A rejection that ends the run executes nothing.
    const first = name === 'runs reject' ? /^$/ : /^\{"type":"run-started"/
    expect(readFileSync(join(project.directory, 'events.jsonl'), 'utf8')).toMatch(first)
    expect(readFileSync(join(project.directory, 'report.xml'), 'utf8')).toContain('<testsuite')
  },
)

it('refuses a report about a new run that an agent executes, before it starts', async () => {
  const { runId } = (await command('chain start main --json')).json
  const { error } = await command(`runs retry ${runId} --report junit=report.xml`, yes)
  expect(error?.message).toContain('--report')
  expect(existsSync(join(project.directory, 'report.xml'))).toBe(false)
})
