/// What happens to the finished files of jobs that `finished_retention` deletes.
enum FinishedFiles: String, Sendable, CaseIterable {
    case keep, delete

    /// - Throws: `SettingsError` if the value is invalid.
    init(reading text: String) throws {
        guard let files = FinishedFiles(rawValue: text) else {
            throw SettingsError("finished_retention_files is '\(text)'; it must be keep or delete.")
        }
        self = files
    }
}
