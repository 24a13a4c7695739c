export { type OpenedView, openView, type ViewOptions } from './open-view.ts'
export { pageText } from './page-text.ts'
export type { StandingRun, ViewWorld } from './world.ts'
