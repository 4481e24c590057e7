package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// path is what engines give to each container.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// prepare makes the network, the volumes and the command of a pod, and opens its log. Nothing runs yet.
func (k *kubelet) prepare(l *life) (*exec.Cmd, *os.File, error) {
	spec := &l.pod.Spec
	if len(spec.InitContainers) > 0 || len(spec.Containers) != 1 {
		return nil, nil, fmt.Errorf("the stand-in runs pods of one container, without init containers")
	}
	c := spec.Containers[0]
	from, known := k.image(c.Image)
	if !known {
		return nil, nil, fmt.Errorf("the stand-in has no image %s", c.Image)
	}
	mounts, err := k.mounts(l, c)
	if err != nil {
		return nil, nil, err
	}
	environment, err := k.environment(l, c)
	if err != nil {
		return nil, nil, err
	}
	if l.network, err = newNetwork(); err != nil {
		return nil, nil, err
	}
	for at, entry := range environment {
		environment[at] = strings.ReplaceAll(entry, podIPMark, l.network.ip)
	}
	log, err := os.Create(filepath.Join(l.folder, "log"))
	if err != nil {
		return nil, nil, err
	}
	command := exec.Command("nsenter", "--net=/run/netns/"+l.network.name, "--", "sh", "-euc", l.script(from, c, mounts), "sh")
	command.Args = append(command.Args, environment...)
	command.Args = append(command.Args, l.program(from, c)...)
	command.Stdout, command.Stderr = log, log
	// nsenter and all that follows replace each other: the container's own program is process 1 of its namespace, and signals reach it.
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC, Setsid: true,
	}
	return command, log, nil
}

// image finds a root file system by the part of the image's name before the colon.
func (k *kubelet) image(name string) (image, bool) {
	for prefix, it := range k.images {
		if strings.HasPrefix(name, prefix) {
			return it, true
		}
	}
	return image{}, false
}

// mount is a folder or file of this machine, and its place in the container.
type mount struct {
	from, to string
	readOnly bool
}

// script is the shell that becomes the container: its own view of the image, its mounts, its user. Its arguments are variables with
// their values, then the program.
func (l *life) script(from image, c container, mounts []mount) string {
	root := filepath.Join(l.folder, "root")
	var lines strings.Builder
	line := func(format string, words ...any) { fmt.Fprintf(&lines, format+"\n", words...) }
	line("echo '%s' >/proc/sys/kernel/hostname", l.hostname())
	line("mkdir -p '%s' '%s.up' '%s.work'", root, root, root)
	line("mount -t overlay overlay -o 'lowerdir=%s,upperdir=%s.up,workdir=%s.work' '%s'", from.root, root, root, root)
	for _, m := range mounts {
		line("mkdir -p '%s%s'", root, m.to)
	}
	line("printf '127.0.0.1 localhost\\n::1 localhost\\n%s %s\\n' >'%s/etc/hosts'", l.network.ip, l.hostname(), root)
	line("mount -t proc proc '%s/proc'", root)
	line("mount --rbind /dev '%s/dev'", root)
	line("mount --rbind /sys '%s/sys'", root)
	own, inherited := l.security(c)
	if own.ReadOnlyRootFilesystem {
		line("mount -o remount,ro '%s'", root)
	}
	for _, m := range mounts {
		line("mount --bind '%s' '%s%s'", m.from, root, m.to)
		if m.readOnly {
			line("mount -o remount,bind,ro '%s%s'", root, m.to)
		}
	}
	user, group := int64(12345), int64(12345)
	for _, rules := range []securityRules{inherited, own} {
		if rules.RunAsUser != nil {
			user = *rules.RunAsUser
		}
		if rules.RunAsGroup != nil {
			group = *rules.RunAsGroup
		}
	}
	groups := ""
	if inherited.FSGroup != nil {
		groups = fmt.Sprint(*inherited.FSGroup)
	}
	workdir := from.workdir
	if c.WorkingDir != "" {
		workdir = c.WorkingDir
	}
	// A user other than root, and no way to become another: no capability is left.
	line("exec /usr/bin/env -i /usr/bin/setpriv --no-new-privs /usr/sbin/chroot --userspec=%d:%d --groups='%s' '%s' "+
		`/bin/sh -c 'cd "$1" && shift && exec env "$@"' sh '%s' "$@"`, user, group, groups, root, workdir)
	return lines.String()
}

func (l *life) security(c container) (own, inherited securityRules) {
	if c.SecurityContext != nil {
		own = *c.SecurityContext
	}
	return own, l.pod.Spec.SecurityContext
}

func (l *life) hostname() string {
	if l.pod.Spec.Hostname != "" {
		return l.pod.Spec.Hostname
	}
	return l.pod.Metadata.Name
}

func (l *life) program(from image, c container) []string {
	words := c.Command
	if len(words) == 0 {
		words = from.entrypoint
	}
	return append(append([]string{}, words...), c.Args...)
}

// mounts writes the volumes of a pod to folders, and says where the container has them.
func (k *kubelet) mounts(l *life, c container) ([]mount, error) {
	folders := map[string]string{}
	for _, v := range l.pod.Spec.Volumes {
		folder := filepath.Join(l.folder, "volumes", v.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		folders[v.Name] = folder
		var files map[string][]byte
		var err error
		switch {
		case v.EmptyDir != nil:
			err = os.Chmod(folder, 0o777)
		case v.ConfigMap != nil:
			files, err = k.data(l, "configmaps", v.ConfigMap.Name)
		case v.Secret != nil:
			files, err = k.data(l, "secrets", v.Secret.SecretName)
		case v.Projected != nil: // The token of the service account: nothing here needs it.
		default:
			err = fmt.Errorf("the stand-in has no volumes of the kind of %s", v.Name)
		}
		if err != nil {
			return nil, err
		}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
				return nil, err
			}
		}
	}
	var mounts []mount
	for _, m := range c.VolumeMounts {
		folder, known := folders[m.Name]
		if !known || m.SubPath != "" {
			return nil, fmt.Errorf("the stand-in can't mount %s", m.Name)
		}
		mounts = append(mounts, mount{folder, m.MountPath, m.ReadOnly})
	}
	// An outer place before what is mounted inside of it.
	sort.SliceStable(mounts, func(a, b int) bool { return len(mounts[a].to) < len(mounts[b].to) })
	return mounts, nil
}

// data is what a ConfigMap or a Secret holds, as files.
func (k *kubelet) data(l *life, kind, name string) (map[string][]byte, error) {
	var object struct {
		Data       map[string]string `json:"data"`
		BinaryData map[string]string `json:"binaryData"`
	}
	if err := k.api.get("/api/v1/namespaces/"+l.pod.Metadata.Namespace+"/"+kind+"/"+name, &object); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	inBase64 := object.BinaryData
	if kind == "secrets" {
		inBase64 = object.Data
	} else {
		for key, text := range object.Data {
			files[key] = []byte(text)
		}
	}
	for key, text := range inBase64 {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		files[key] = content
	}
	return files, nil
}
