import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('the page on testing shows the example that runs', () => {
  const page = readFileSync(new URL('../../docs/testing-skills.md', import.meta.url), 'utf8')
  const example = readFileSync(
    new URL('../../examples/testing-a-skill/greet-people.test.mjs', import.meta.url),
    'utf8',
  )
  expect(page).toContain(`\`\`\`js\n${example}\`\`\`\n`)
})
