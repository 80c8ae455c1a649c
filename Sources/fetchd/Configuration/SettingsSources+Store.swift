import Engine
import Storage

extension SettingsSources {
    /// The PostgreSQL database of the jobs; nil: SQLite in the data folder.
    var store: ServerAddress? {
        get throws { try string(.store).map(Self.serverAddress) }
    }

    /// Whether the services that share the database use one downloads folder.
    var folderSharing: FolderSharing {
        get throws {
            guard let text = try string(.downloads) else { return .local }
            let sharing = try Self.folderSharing(text)
            if sharing == .shared, try store == nil {
                throw SettingsError(
                    "downloads is 'shared', but the service has a database of its own. Set --store, too.")
            }
            return sharing
        }
    }

    static func folderSharing(_ text: String) throws -> FolderSharing {
        guard let sharing = FolderSharing(rawValue: text) else {
            throw SettingsError("downloads is '\(text)'; it must be local or shared.")
        }
        return sharing
    }

    static func serverAddress(_ url: String) throws -> ServerAddress {
        do {
            return try ServerAddress(url)
        } catch {
            throw SettingsError("store is not the address of a database such as postgres://fetchd@db/fetchd. \(error)")
        }
    }
}
