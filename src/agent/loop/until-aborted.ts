export { untilAborted } from '../../base/index.ts'
