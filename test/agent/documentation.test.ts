import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync(new URL('../../docs/for-developers.md', import.meta.url), 'utf8')

it.each(['library-basic/library.mjs', 'agent-basic/agent.mjs', 'agent-delegation/agent.mjs'])(
  'the page for developers shows %s as it runs',
  (name) => {
    const path = new URL(`../../examples/${name}`, import.meta.url)
    expect(page).toContain(`\`\`\`js\n${readFileSync(path, 'utf8')}\`\`\`\n`)
  },
)

it('the page for developers shows the recorded session', () => {
  const cast = readFileSync(
    new URL('../../docs/recordings/agent-session.cast', import.meta.url),
    'utf8',
  )
  for (const line of ['[fork-check-links] completed', '[translator] completed']) {
    expect(cast).toContain(line.slice(line.indexOf(' ')))
    expect(page).toContain(line)
  }
})
