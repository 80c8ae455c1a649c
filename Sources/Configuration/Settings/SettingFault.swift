/// Why a value of a setting cannot be used.
public struct SettingFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let name: SettingName
    /// The end of a sentence that begins with the name, without its full stop.
    public let why: String

    init(_ name: SettingName, _ why: String) { (self.name, self.why) = (name, why) }

    public var description: String { "\(name.rawValue) \(why)." }
}
