import type { Node } from 'jsonc-parser'
import { type Diagnostic, nearest, type TextPlaces } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { expected, type FieldKind, forbiddenKeys, type WorkflowField } from './_fields.ts'
import type { JsonObject } from './model.ts'

/** Where the nodes come from, and what was found wrong with them. */
export interface NodeReader {
  placeOf: TextPlaces
  path: string
  diagnostics: Diagnostic[]
}

/** One member of an object. */
export interface Member {
  key: string
  keyNode: Node
  value: Node
}

export function report(
  reader: NodeReader,
  node: Node,
  code: string,
  message: string,
  more: Partial<Diagnostic> = {},
): void {
  const place = reader.placeOf(node.offset)
  reader.diagnostics.push({
    code,
    severity: 'error',
    message,
    path: reader.path,
    ...place,
    ...more,
  })
}

/** The members in order; forbidden and repeated keys are reported and left out. */
export function membersOf(reader: NodeReader, node: Node, where: string): Member[] {
  const members = new Map<string, Member>()
  for (const property of node.children ?? []) {
    const [keyNode, value] = property.children ?? []
    if (keyNode === undefined || value === undefined) continue
    const key = String(keyNode.value)
    if (forbiddenKeys.has(key)) {
      report(reader, keyNode, 'workflow-key-forbidden', `${where}: the key ${key} is not allowed`)
    } else if (members.has(key)) {
      report(reader, keyNode, 'workflow-key-repeated', `${where}: ${key} is there twice`, {
        hint: 'Keep one of them.',
      })
    } else members.set(key, { key, keyNode, value })
  }
  return [...members.values()]
}

/**
 * The members of an object whose fields are known, by name. A wrong type and a missing required
 * field are errors; an unknown one is a warning with what was probably meant.
 */
export function fieldsOf(
  reader: NodeReader,
  node: Node,
  fields: Readonly<Record<string, WorkflowField>>,
  where: string,
): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>()
  for (const { key, keyNode, value } of membersOf(reader, node, where)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) unknownKey(reader, keyNode, key, Object.keys(fields), where)
    else if (hasKind(value, field.kind)) found.set(key, value)
    else {
      const message = `${where}: ${key} must be ${expected[field.kind]}`
      report(reader, value, 'workflow-wrong-type', message)
    }
  }
  for (const [key, field] of Object.entries(fields)) {
    if (!field.required || hasMember(node, key)) continue
    report(reader, node, 'workflow-field-missing', `${where}: ${key} is missing`, {
      hint: `${key} is ${expected[field.kind]}.`,
    })
  }
  return found
}

/** The value of a node. Forbidden keys are reported and left out. */
export function jsonOf(reader: NodeReader, node: Node, where: string): JsonValue {
  if (node.type === 'array') {
    return (node.children ?? []).map((child) => jsonOf(reader, child, where))
  }
  if (node.type === 'object') return objectOf(reader, node, where)
  const value: unknown = node.value
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : null
}

export function objectOf(reader: NodeReader, node: Node, where: string): JsonObject {
  return Object.fromEntries(
    membersOf(reader, node, where).map(({ key, value }) => [key, jsonOf(reader, value, where)]),
  )
}

export function textOf(node: Node | undefined): string | undefined {
  const value: unknown = node?.value
  return typeof value === 'string' ? value : undefined
}

export function namesOf(node: Node | undefined): string[] | undefined {
  return node?.children?.flatMap((child) => textOf(child) ?? [])
}

function hasMember(node: Node, key: string): boolean {
  return (node.children ?? []).some((property) => property.children?.[0]?.value === key)
}

function unknownKey(
  reader: NodeReader,
  node: Node,
  key: string,
  known: readonly string[],
  where: string,
): void {
  const meant = nearest(key, known)
  report(reader, node, 'workflow-key-unknown', `${where}: ${key} is no field; it is ignored`, {
    severity: 'warning',
    hint: meant === undefined ? `The fields are ${known.join(', ')}.` : `Did you mean ${meant}?`,
  })
}

function hasKind(node: Node, kind: FieldKind): boolean {
  const value: unknown = node.value
  switch (kind) {
    case 'text':
      return typeof value === 'string' && value.trim() !== ''
    case 'boolean':
      return typeof value === 'boolean'
    case 'step':
      return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1000
    case 'mode':
      return value === 'enforce' || value === 'warn' || value === 'suggest'
    case 'name':
      return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(value)
    case 'names':
      return node.type === 'array' && (node.children ?? []).every((child) => hasKind(child, 'text'))
    case 'params':
    case 'triggers':
      return node.type === 'object'
    case 'prerequisites':
      return (
        node.type === 'array' && (node.children ?? []).every((child) => child.type === 'object')
      )
  }
}
