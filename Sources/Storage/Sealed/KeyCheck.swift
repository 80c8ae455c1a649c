import Sealing

/// The check value of the store's key: a text that is sealed with it.
struct KeyCheck {
    private let sealed: String

    private static let place = SealedPlace(table: "sealing", column: "key_check", row: "1")

    /// - Parameter sealed: the column `sealing.key_check`.
    init(sealed: String) { self.sealed = sealed }

    /// nil if the store has no key: it is new, of an earlier version, or its key was given up.
    init?(_ db: SQLConnection) throws {
        guard try db.hasTable("sealing"),
            let sealed = try db.value("SELECT key_check FROM sealing", as: String.self)
        else { return nil }
        self.sealed = sealed
    }

    func fits(_ key: SealingKey) -> Bool {
        if case .text = Keyring(current: key).open(sealed, at: Self.place) { true } else { false }
    }

    /// Makes this key the key of the store.
    static func write(_ key: SealingKey, in db: SQLConnection) throws {
        try db.run("UPDATE sealing SET key_check = ?", [Keyring(current: key).seal("fetchd", at: place)])
    }

    /// Gives up the key. The values that it has sealed stay, and cannot be read.
    static func remove(in db: SQLConnection) throws { try db.run("UPDATE sealing SET key_check = NULL") }
}
