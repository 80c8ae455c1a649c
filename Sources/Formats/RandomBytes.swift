extension [UInt8] {
    /// Bytes for keys and secrets, from the random number generator of the system (getrandom(2)).
    public static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
