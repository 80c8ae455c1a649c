import ArgumentParser
import Formats

/// The options of `fetchd serve` for aria2's interface.
struct Aria2Options: ParsableArguments {
    @Flag(
        name: .customLong("aria2-rpc"),
        help: ArgumentHelp(
            "Serve aria2's JSON-RPC at /jsonrpc, for programs that drive aria2. See docs/from-aria2.md. (default: off)")
    )
    var aria2RPC = false

    @Option(
        help: ArgumentHelp(
            "The session of the jobs that aria2's JSON-RPC shows and creates. (default: \(Settings.Defaults.aria2Session))",
            valueName: "name"))
    var aria2Session: String?

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .aria2RPC: aria2RPC ? .bool(true) : nil, .aria2Session: aria2Session.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }
}
