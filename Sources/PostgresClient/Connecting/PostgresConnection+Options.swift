extension PostgresConnection {
    public struct Options: Sendable {
        /// The name that `pg_stat_activity` shows, unless the URL or `PGAPPNAME` has one.
        public var applicationName = "fetchd"
        /// How long one attempt to connect may take, unless the URL or `PGCONNECT_TIMEOUT` says it. A URL with several hosts
        /// allows it for each of them. The lookup of a name is not limited: libpq calls the system's resolver.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest time for connecting, for all servers of the URL together; nil: no such limit. A longer
        /// `connect_timeout` of the URL does not extend it. Each server has an equal part of it, so the connection
        /// tries the last server, too.
        public var connectLimit: Duration?
        /// How long one round trip may take.
        public var timeout: Duration = .seconds(30)
        /// How many different statements are prepared on a connection. Further ones are parsed each time. 0 for a pooler
        /// that gives each transaction another server connection.
        public var preparedStatements = 500
        /// Refuses a standby, and tries the next host.
        public var requiresPrimary = true
        /// TCP: the seconds without traffic until the first probe, between probes, and the lost probes that end the
        /// connection, unless the URL has them.
        public var keepalive = (idleSeconds: 10, intervalSeconds: 3, probes: 3)
        /// TCP: milliseconds after which unacknowledged bytes end the connection, unless the URL has `tcp_user_timeout`.
        public var tcpUserTimeout = 10_000
        /// Settings of the session.
        ///
        /// `client_connection_check_interval`: the server ends a statement whose client is gone after at most a second.
        /// `idle_in_transaction_session_timeout`: a client that stops in a transaction holds its locks for at most ten
        /// seconds. Both are in milliseconds.
        public var settings = [
            "client_connection_check_interval": "1000", "idle_in_transaction_session_timeout": "10000",
        ]
        /// Receives notices and warnings of the server, on the thread of the connection.
        public var onNotice: (@Sendable (PostgresReport) -> Void)?

        public init() {}
    }
}
