export const platformPage = (rows: unknown): string => JSON.stringify(rows)
