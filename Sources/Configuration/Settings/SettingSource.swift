/// Where the value of a setting comes from, the strongest source first.
public enum SettingSource: String, Sendable, CaseIterable {
    /// A client has set it. The database keeps it.
    case api
    /// An option of the command line.
    case flag
    case environment
    /// The configuration file.
    case file
    case `default`
}
