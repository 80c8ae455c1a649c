import Foundation

extension Duration {
    /// Rounded to milliseconds, the precision in which times are stored.
    public var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
    public var seconds: TimeInterval { Double(milliseconds) / 1000 }
}
