/// A setting has an invalid value, or the configuration file cannot be used.
struct SettingsError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
