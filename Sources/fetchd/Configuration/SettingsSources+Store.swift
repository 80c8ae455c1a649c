import Storage

extension SettingsSources {
    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    var store: ServerAddress? {
        get throws { try string(.store).map(Self.serverAddress) }
    }

    static func serverAddress(_ url: String) throws -> ServerAddress {
        do {
            return try ServerAddress(url)
        } catch {
            throw SettingsError("store is not the address of a database such as postgres://fetchd@db/fetchd. \(error)")
        }
    }
}
