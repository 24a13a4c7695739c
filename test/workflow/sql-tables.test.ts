import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sqlTables } from '../../src/tools/workflow/references.ts'

it.each([
  ["SELECT * FROM users WHERE status = 'active'", ['users']],
  ['select u.id from shop.users u join orders as o on o.u = u.id', ['shop.users', 'orders']],
  ['SELECT 1 FROM a, b AS c, "Odd Name"', ['a', 'b', 'Odd Name']],
  ['INSERT INTO logs (at) VALUES (1)', ['logs']],
  ['UPDATE users SET a = 1', ['users']],
  ['DELETE FROM `users`', ['users']],
  ['SELECT * FROM [dbo].[People]', ['dbo.People']],
  ['WITH recent AS (SELECT * FROM orders) SELECT * FROM recent', ['orders']],
  ['SELECT EXTRACT(YEAR FROM created) FROM events', ['events']],
  ['SELECT * FROM generate_series(1, 3)', []],
  ["SELECT 'from nothing' -- from comment\n/* from block */", []],
  ['SELECT a IS DISTINCT FROM b FROM t', ['t']],
  ['SELECT * FROM users FOR UPDATE', ['users']],
  ['CREATE TABLE IF NOT EXISTS x (id int)', []],
  ['DROP TABLE IF EXISTS x', ['x']],
  ['SELECT 1', []],
  ['', []],
])('reads %j', (sql, expected) => {
  const tables = sqlTables(sql).map(({ table, qualifier }) =>
    qualifier === undefined ? table : `${qualifier}.${table}`,
  )
  expect(tables).toEqual(expected)
})

it('ends on any text', () => {
  const word = fc.constantFrom(
    'from',
    'a',
    ',',
    '(',
    ')',
    '"',
    "'",
    '--',
    '/*',
    '.',
    'as',
    ' ',
    'with',
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 400 }), (words) => {
      for (const { table } of sqlTables(words.join(' '))) expect(table).not.toBe('')
    }),
  )
})

it.each([
  ['quotes that do not end', '"'.repeat(100_000)],
  ['a list that does not end', `from ${'a,'.repeat(50_000)}`],
  ['blanks', `from ${' '.repeat(100_000)}`],
  ['comments that do not end', '/*'.repeat(50_000)],
  ['dots', `from ${'a.'.repeat(50_000)}`],
])('reads %s without delay', (_, sql) => {
  expect(sqlTables(sql).length).toBeLessThan(2)
})
