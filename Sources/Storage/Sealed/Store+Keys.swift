extension Store {
    /// A key for a purpose outside the database, such as the codes of cookies. It is the same after a restart, and changes with
    /// the key of the secrets.
    public func key(for purpose: String) -> [UInt8] { sealer.keys.current.derived(for: purpose) }
}
