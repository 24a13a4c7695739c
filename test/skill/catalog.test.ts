import { UsageError } from '../../src/core/errors.ts'
import { estimateTokens } from '../../src/core/text.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderCatalog } from '../../src/skill/catalog.ts'

const skills = [
  { name: 'pdf', description: 'Reads <PDF> & "text".', location: '/s/pdf/SKILL.md' },
  { name: 'csv', description: "It's for tables.", location: '/s/a&b/SKILL.md' },
]

describe('the catalogue as XML', () => {
  it('accepts skills from a search', () => {
    const found = skills.map(({ location, ...skill }) => ({ ...skill, path: location }))
    expect(renderCatalog(found, { format: 'xml' })).toEqual(
      renderCatalog(skills, { format: 'xml' }),
    )
  })

  it('equals the catalogue of the reference library', () => {
    expect(renderCatalog(skills, { format: 'xml' }).text).toBe(
      `<available_skills>
<skill>
<name>
pdf
</name>
<description>
Reads &lt;PDF&gt; &amp; &quot;text&quot;.
</description>
<location>
/s/pdf/SKILL.md
</location>
</skill>
<skill>
<name>
csv
</name>
<description>
It&#x27;s for tables.
</description>
<location>
/s/a&b/SKILL.md
</location>
</skill>
</available_skills>`,
    )
  })

  it('has two lines without skills', () => {
    const { text } = renderCatalog([], { format: 'xml' })
    expect(text).toBe('<available_skills>\n</available_skills>')
  })

  it('keeps the lines of a description', () => {
    const [first] = skills
    const two = { ...first, name: 'n', location: 'l', description: 'a\nb' }
    expect(renderCatalog([two], { format: 'xml' }).text).toContain('\na\nb\n')
  })
})

describe('the catalogue in other formats', () => {
  it('has one line for each skill in Markdown', () => {
    const text = '- **pdf**: Reads <PDF> & "text". (/s/pdf/SKILL.md)\n'
    expect(renderCatalog(skills, { format: 'markdown' }).text.startsWith(text)).toBe(true)
  })

  it('is one document in JSON', () => {
    const { text } = renderCatalog(skills, { format: 'json' })
    expect(JSON.parse(text)).toEqual({ skills, omitted: [] })
  })
})

describe('a token budget', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    name: `skill-${index}`,
    description: `Word `.repeat(60).trim(),
    location: `/skills/skill-${index}/SKILL.md`,
  }))

  it('shortens descriptions before it leaves out skills', () => {
    const whole = estimateTokens(renderCatalog(many, { format: 'xml' }).text)
    const cut = renderCatalog(many, { format: 'xml', tokenBudget: whole - 200 })
    expect(cut.omitted).toEqual([])
    expect(cut.shortened).toHaveLength(20)
    expect(cut.text).toContain('Word…')
  })

  it('leaves out skills from the end if the budget is used up, and reports them', () => {
    const cut = renderCatalog(many, { format: 'markdown', tokenBudget: 300 })
    expect(cut.omitted.length).toBeGreaterThan(0)
    expect(cut.omitted).toEqual(many.slice(-cut.omitted.length).map(({ name }) => name))
    expect(cut.text).toContain(`${cut.omitted.length} skills are not listed here: `)
    expect(cut.text).toContain(cut.omitted[0])
  })

  it('names every skill it left out in JSON and in the result', () => {
    const cut = renderCatalog(many, { format: 'json', tokenBudget: 500 })
    expect(JSON.parse(cut.text).omitted).toEqual(cut.omitted)
  })

  it('is kept if at least the note fits', () => {
    const budget = fc.integer({ min: 60, max: 2000 })
    const format = fc.constantFrom('xml' as const, 'markdown' as const)
    fc.assert(
      fc.property(budget, format, (tokenBudget, chosen) => {
        const cut = renderCatalog(many, { format: chosen, tokenBudget })
        expect(estimateTokens(cut.text)).toBeLessThanOrEqual(tokenBudget)
        const listed = many.filter(({ location }) => cut.text.includes(location))
        expect(listed.length + cut.omitted.length).toBe(many.length)
      }),
    )
  })

  it('is refused if it is negative', () => {
    expect(() => renderCatalog(many, { format: 'xml', tokenBudget: -1 })).toThrow(UsageError)
  })
})
