import Foundation

extension Duration {
    /// To the millisecond, as times are stored.
    public var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded()) }
    public var seconds: TimeInterval { Double(milliseconds) / 1000 }
}
