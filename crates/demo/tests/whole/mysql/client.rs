//! A plain client of MySQL's protocol: what it reads is what was on the wire.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize as _;

/// A row: texts, `None` for NULL.
pub(crate) type Row = Vec<Option<String>>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Ok { rows: u64, last_id: u64, status: StatusFlags },
    Refused { code: u16, state: String, text: String },
    Rows { names: Vec<String>, rows: Vec<Row>, status: StatusFlags },
}

impl Answer {
    pub(crate) fn rows(self) -> Vec<Row> {
        match self {
            Self::Rows { rows, .. } => rows,
            other => panic!("no rows: {other:?}"),
        }
    }

    /// The one value of the one row.
    pub(crate) fn value(self) -> String {
        let rows = self.rows();
        assert_eq!((rows.len(), rows[0].len()), (1, 1), "{rows:?}");
        rows[0][0].clone().expect("not NULL")
    }

    /// Rows that were changed.
    pub(crate) fn changed(self) -> u64 {
        match self {
            Self::Ok { rows, .. } => rows,
            other => panic!("not done: {other:?}"),
        }
    }

    /// Number and state of the refusal.
    pub(crate) fn refused(self) -> (u16, String) {
        match self {
            Self::Refused { code, state, .. } => (code, state),
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(crate) fn status(&self) -> StatusFlags {
        match self {
            Self::Ok { status, .. } | Self::Rows { status, .. } => *status,
            Self::Refused { .. } => panic!("refused: {self:?}"),
        }
    }
}

/// An argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg<'a> {
    Null,
    Int(i64),
    Text(&'a str),
}

/// A prepared statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prepared {
    id: u32,
    pub(crate) columns: u16,
    pub(crate) arguments: u16,
}

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    next: u8,
    flags: CapabilityFlags,
}

impl Client {
    /// Logs in as `brunt`, without a password, with all that the server offers.
    pub(crate) fn new(addr: SocketAddr) -> Self {
        Self::login(addr, "brunt", "", Some("demo"), CapabilityFlags::all()).unwrap()
    }

    pub(crate) fn login(
        addr: SocketAddr,
        user: &str,
        password: &str,
        database: Option<&str>,
        wanted: CapabilityFlags,
    ) -> Result<Self, Answer> {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut client = Self { stream, next: 0, flags: CapabilityFlags::all() };
        let packet = client.packet().unwrap();
        if packet[0] == 0xff {
            return Err(refusal(&packet));
        }
        let greeting: HandshakePacket<'_> = ParseBuf(&packet).parse(()).unwrap();
        let nonce = greeting.nonce();
        let proof = scramble_native(&nonce[..20], password.as_bytes());
        let response = HandshakeResponse::new(
            proof.map(|proof| proof.to_vec()),
            (8, 0, 0),
            Some(user.as_bytes()),
            database.map(str::as_bytes),
            Some(AuthPlugin::MysqlNativePassword),
            greeting.capabilities() & wanted,
            None,
            1 << 24,
        );
        client.flags = greeting.capabilities() & wanted;
        let mut bytes = Vec::new();
        response.serialize(&mut bytes);
        client.send(&bytes);
        match client.answer() {
            Answer::Ok { .. } => Ok(client),
            refused => Err(refused),
        }
    }

    fn send(&mut self, content: &[u8]) {
        let mut packet = (content.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(self.next);
        packet.extend_from_slice(content);
        self.stream.write_all(&packet).unwrap();
        self.next = self.next.wrapping_add(1);
    }

    /// The next packet; `None`: the connection was closed.
    fn packet(&mut self) -> Option<Vec<u8>> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).ok()?;
        assert_eq!(head[3], self.next, "packets are counted");
        self.next = head[3].wrapping_add(1);
        let mut content = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.stream.read_exact(&mut content).ok()?;
        Some(content)
    }

    /// Sends a command and reads nothing.
    pub(crate) fn command(&mut self, command: u8, content: &[u8]) {
        self.next = 0;
        self.send(&[&[command], content].concat());
    }

    pub(crate) fn query(&mut self, sql: &str) -> Answer {
        self.try_query(sql).expect("the connection is there")
    }

    pub(crate) fn try_query(&mut self, sql: &str) -> Option<Answer> {
        self.command(3, sql.as_bytes());
        let first = self.packet()?;
        Some(self.answer_from(first, false))
    }

    /// The next answer, of several.
    pub(crate) fn answer(&mut self) -> Answer {
        let first = self.packet().expect("an answer");
        self.answer_from(first, false)
    }

    fn answer_from(&mut self, first: Vec<u8>, is_binary: bool) -> Answer {
        match first[0] {
            0xff => return refusal(&first),
            0 => {
                let mut at = &first[1..];
                let (rows, last_id) = (length(&mut at), length(&mut at));
                let status = StatusFlags::from_bits_truncate(u16::from_le_bytes([at[0], at[1]]));
                return Answer::Ok { rows, last_id, status };
            }
            _ => {}
        }
        let count = length(&mut &first[..]) as usize;
        let (names, codes) = self.columns(count);
        let mut rows = Vec::new();
        loop {
            let packet = self.packet().expect("rows, then an end");
            match packet[0] {
                0xfe if packet.len() < 9 => {
                    let at = 3;
                    let status = u16::from_le_bytes([packet[at], packet[at + 1]]);
                    let status = StatusFlags::from_bits_truncate(status);
                    return Answer::Rows { names, rows, status };
                }
                0xff => return refusal(&packet),
                _ if is_binary => rows.push(binary(&packet, &codes)),
                _ => rows.push(text(&packet, count)),
            }
        }
    }

    fn is_new(&self) -> bool {
        self.flags.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    fn columns(&mut self, count: usize) -> (Vec<String>, Vec<u8>) {
        let (mut names, mut codes) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let packet = self.packet().unwrap();
            let mut at = &packet[..];
            let texts: Vec<_> = (0..6).map(|_| cell(&mut at).unwrap()).collect();
            names.push(texts[4].clone());
            codes.push(at[7]);
        }
        if count > 0 && !self.is_new() {
            assert_eq!(self.packet().unwrap()[0], 0xfe);
        }
        (names, codes)
    }

    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Prepared, Answer> {
        self.command(0x16, sql.as_bytes());
        let packet = self.packet().unwrap();
        if packet[0] == 0xff {
            return Err(refusal(&packet));
        }
        let two = |at: usize| u16::from_le_bytes([packet[at], packet[at + 1]]);
        let id = u32::from_le_bytes(packet[1..5].try_into().unwrap());
        let prepared = Prepared { id, columns: two(5), arguments: two(7) };
        self.columns(usize::from(prepared.arguments));
        self.columns(usize::from(prepared.columns));
        Ok(prepared)
    }

    pub(crate) fn execute(&mut self, prepared: Prepared, args: &[Arg<'_>]) -> Answer {
        let mut content = prepared.id.to_le_bytes().to_vec();
        content.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !args.is_empty() {
            let nulls = content.len();
            content.resize(nulls + args.len().div_ceil(8), 0);
            content.push(1);
            for (index, arg) in args.iter().enumerate() {
                if matches!(arg, Arg::Null) {
                    content[nulls + index / 8] |= 1 << (index % 8);
                }
                content.extend_from_slice(if matches!(arg, Arg::Int(_)) {
                    &[8, 0]
                } else {
                    &[0xfd, 0]
                });
            }
            for arg in args {
                match arg {
                    Arg::Null => {}
                    Arg::Int(value) => content.extend_from_slice(&value.to_le_bytes()),
                    Arg::Text(text) => {
                        content.push(text.len() as u8);
                        content.extend_from_slice(text.as_bytes());
                    }
                }
            }
        }
        self.command(0x17, &content);
        let first = self.packet().expect("an answer");
        self.answer_from(first, true)
    }
}

fn refusal(packet: &[u8]) -> Answer {
    let code = u16::from_le_bytes([packet[1], packet[2]]);
    let text = String::from_utf8(packet[4..].to_vec()).unwrap();
    Answer::Refused { code, state: text[..5].to_owned(), text: text[5..].to_owned() }
}

fn length(at: &mut &[u8]) -> u64 {
    let (first, rest) = at.split_first().unwrap();
    let size = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => 0,
    };
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&rest[..size]);
    *at = &rest[size..];
    if size == 0 { u64::from(*first) } else { u64::from_le_bytes(bytes) }
}

fn cell(at: &mut &[u8]) -> Option<String> {
    if at[0] == 0xfb {
        *at = &at[1..];
        return None;
    }
    let (text, rest) = {
        let size = length(at) as usize;
        at.split_at(size)
    };
    *at = rest;
    Some(String::from_utf8(text.to_vec()).unwrap())
}

fn text(packet: &[u8], count: usize) -> Row {
    let mut at = packet;
    (0..count).map(|_| cell(&mut at)).collect()
}

fn binary(packet: &[u8], codes: &[u8]) -> Row {
    let (nulls, mut at) = packet[1..].split_at((codes.len() + 2).div_ceil(8));
    let mut row = Vec::new();
    for (index, code) in codes.iter().enumerate() {
        let bit = index + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            row.push(None);
            continue;
        }
        let size = match code {
            1 => 1,
            2 => 2,
            3 | 9 => 4,
            8 => 8,
            _ => {
                row.push(cell(&mut at));
                continue;
            }
        };
        let (bytes, rest) = at.split_at(size);
        let negative = bytes[size - 1] & 0x80 != 0;
        let mut whole = [if negative { 0xff } else { 0 }; 8];
        whole[..size].copy_from_slice(bytes);
        row.push(Some(i64::from_le_bytes(whole).to_string()));
        at = rest;
    }
    row
}
