import ArgumentParser

/// The options of commands that wait.
struct WaitingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print no progress. Failures are still printed.")
    var quiet = false

    @Option(help: ArgumentHelp("After this many seconds, exit with status 124.", valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout < 1e9) {
            throw ValidationError("--timeout must be a number of seconds above 0.")
        }
    }
}
