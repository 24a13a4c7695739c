import { expect, it } from 'vitest'
import { createSchemaChecker } from '../../../src/tools/call/schema-checker.ts'

const checker = createSchemaChecker()

it.each([
  [{ type: 'array' }, 'x', 'must be an array'],
  [{ type: ['string', 'null'] }, 1, 'must be a string or null'],
  [{ minItems: 1 }, [], 'must have 1 item or more'],
  [{ maxItems: 2 }, [1, 2, 3], 'must have 2 items at most'],
  [{ minLength: 1 }, '', 'must not be empty'],
  [{ minLength: 2 }, 'a', 'must have 2 characters or more'],
  [{ maxLength: 2 }, 'abc', 'must have 2 characters at most'],
  [{ minProperties: 1 }, {}, 'must have 1 field or more'],
  [{ maxProperties: 0 }, { a: 1 }, 'must have 0 fields at most'],
  [{ minimum: 1 }, 0, 'must be 1 or more'],
  [{ maximum: 1 }, 2, 'must be 1 or less'],
  [{ exclusiveMinimum: 1 }, 1, 'must be more than 1'],
  [{ exclusiveMaximum: 1 }, 1, 'must be less than 1'],
  [{ multipleOf: 5 }, 3, 'must be a multiple of 5'],
  [{ uniqueItems: true }, [1, 1], 'must have no item twice'],
  [{ pattern: '^a$' }, 'b', 'must match the pattern ^a$'],
  [{ format: 'date' }, 'b', 'must have the format date'],
  [{ const: 1 }, 2, 'must be 1'],
  [{ enum: [1, 'a'] }, 2, 'must be one of 1, "a"'],
  [{ contains: { const: 1 } }, [2], 'lacks an item that its schema wants'],
  [{ not: {} }, 1, 'breaks the rule "not" of its schema'],
  [{ properties: { a: false } }, { a: 1 }, 'is not allowed'],
])('says of %j and %j that it %s', async (schema, value, message) => {
  const verdict = await checker.check(schema, value)
  const messages = verdict.checked
    ? verdict.problems.map((problem) => problem.message)
    : [verdict.reason]
  expect(messages).toContain(message)
})
