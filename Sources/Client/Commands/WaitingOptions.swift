import ArgumentParser

/// The options of commands that wait.
struct WaitingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print no progress. Failures are still printed.")
    var quiet = false

    @Option(help: ArgumentHelp("After this time, such as 90s or 8h, exit with status 124.", valueName: "duration"))
    var timeout: DurationArgument?
}
