/** Folders of `src` by layer, lowest first, with what each contains. */
export const layers: readonly Readonly<Record<string, string>>[]

/** Folders that a folder imports, its own included. */
export function importableFrom(folder: string): string[]
