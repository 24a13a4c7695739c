import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Row, sections } from './rows.ts'
import { titlePattern } from './titles.ts'

const rows = sections.flatMap((section) => section.rows)

describe('the rows of the requirements', () => {
  it('have a test, a measurement or the reason why the product differs', () => {
    const isShown = ({ tests = {}, bench, differs }: Row): boolean =>
      Object.values(tests).flat().length > 0 || bench !== undefined || differs !== undefined
    expect(rows.filter((row) => !isShown(row)).map(({ id }) => id)).toEqual([])
  })

  it('have different ids', () => {
    const ids = rows.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  it('name titles that their test files contain', () => {
    const missing = rows.flatMap(({ id, tests = {} }) =>
      Object.entries(tests).flatMap(([file, titles]) => {
        const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
        return titles
          .filter((title) => !["'", '"', '`'].some((quote) => text.includes(quote + title + quote)))
          .map((title) => `${id}: ${file}: ${title}`)
      }),
    )
    expect(missing).toEqual([])
  })

  it('name measurements that measure them', () => {
    const missing = rows.flatMap(({ id, bench }) =>
      bench === undefined || (existsSync(bench) && readFileSync(bench, 'utf8').includes(id))
        ? []
        : [`${id}: ${bench}`],
    )
    expect(missing).toEqual([])
  })
})

describe('titlePattern', () => {
  it.each([
    ['reads %j', 'reads {"a":1}', true],
    ['reads %j', 'reads', false],
    ['refuses a path %s (once)', 'refuses a path that is broken (once)', true],
    ['what is it?', 'what is i', false],
  ])('%j matches %j: %j', (title, name, matches) => {
    expect(new RegExp(`^${titlePattern(title)}$`).test(name)).toBe(matches)
  })
})
